-- readout_compactions: the compactions of a period, oldest first (X-compact).
--   :since    UTC milliseconds: boundaries at or after it; null = all
--   :project  part of a project's path, in any case; null = all
-- Columns: session: its id. timestamp: ISO 8601, UTC. before, after: tokens, as logged, else the context of
-- the call just before and after it in the period; exact; null where there is neither. window_after: the context of
-- the first call after it, which has the fixed context as before has; null = none yet. trigger: auto or manual, as
-- logged. is_owner: 1 = totals count it (D2). in_view: 1 = on the main thread of its session's view.
select
  session_id as session,
  timestamp,
  coalesce(pre_tokens, case when :since is null or call_before_ms >= :since then call_before_tokens end)
    as before,
  coalesce(post_tokens, call_after_tokens) as after,
  call_after_tokens as window_after,
  trigger,
  is_owner,
  in_view = 1 and thread_kind = 'main' as in_view
from compactions_overview
where (:since is null or time_ms >= :since)
  and (:project is null or instr(replace(lower(project), '\', '/'), replace(lower(:project), '\', '/')))
order by time_ms, session_id, path, offset;
