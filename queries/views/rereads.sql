-- rereads: one row a re-read (X-reread): a Read of the path, offset and limit of an earlier one in the same
-- thread, with no edit of that file in between. The later read is the waste, unless something outside the
-- agent changed the file meanwhile.
--   session_id, project   its session and the project's path
--   thread_kind           main, subagent, sidechain or progress
--   timestamp             of the later read, ISO 8601 UTC; time_ms the same in milliseconds
--   path                  the file, as logged; read_offset, read_limit: what part of it, null = not given
--   result_tokens         of the later read's result: characters / 4 and 1,500 an image, estimated (X-size)
--   is_changed            1 = the result differs from the earlier one's: the file was changed; null = unknown
--   prior_timestamp       of the earlier read; prior_time_ms the same in milliseconds
--   tool_use_id           of the later read
--   is_owner              1 = totals count it; 0 = a copy of one counted elsewhere (D2)
--   in_view               1 = its session's own view shows it (D3)
create view rereads as
select
  s.session_id,
  p.path as project,
  h.kind as thread_kind,
  strftime('%Y-%m-%dT%H:%M:%fZ', u.use_ms / 1000.0, 'unixepoch') as timestamp,
  u.path,
  u.read_offset,
  u.read_limit,
  u.result_tokens,
  u.result_hash <> e.result_hash as is_changed,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.use_ms / 1000.0, 'unixepoch') as prior_timestamp,
  u.tool_use_id,
  u.owns as is_owner,
  t.in_view = 1 and t.superseded = 0 as in_view,
  u.use_ms as time_ms,
  e.use_ms as prior_time_ms
from tool_uses u
  join tool_uses e on e.id = u.prior_read_id
  join threads h on h.id = u.thread_id
  join transcripts t on t.id = u.transcript_id
  left join sessions s on s.id = t.session_id
  left join projects p on p.id = s.project_id
where u.prior_read_id is not null and (u.prior_edit_id is null or u.prior_edit_id < u.prior_read_id);
