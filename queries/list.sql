-- list: sessions, the last active first, those without a message behind them. What a row says is the view sessions_overview's.
--   :project  part of a project's path, in any case; null = all
--   :limit    rows; null = all
-- Columns: as in sessions_overview; in_all: sessions there are without the limit.
with chosen as (
  select session_key, has_messages, last_active_ms, session_id, count(*) over () as in_all
  from sessions_overview
  where :project is null or instr(replace(lower(project), '\', '/'), replace(lower(:project), '\', '/'))
  order by has_messages desc, last_active_ms desc, session_id
  limit ifnull(:limit, -1)
)
select
  o.session_id as session, o.project, o.title, o.started, o.last_active, o.messages, o.calls, o.model,
  o.version, o.peak_ctx, o.compactions, o.size_bytes, o.gone, o.last_active_ms, c.in_all
from chosen c join sessions_overview o on o.session_key = c.session_key
order by c.has_messages desc, c.last_active_ms desc, c.session_id;
