-- doctor: what the checks ask the store, in one row. All exact.
-- Columns: problems: damaged or odd places (D5), in problem_transcripts. last_run_ms: end of the last run that read
-- something, UTC milliseconds. calls: billed; placeholder_calls: of them, whose output is a placeholder (D9). reports: /context outputs known, the last on last_report, a day of the user's.
select
  (select count(*) from sessions) as sessions,
  (select count(*) from transcripts where gone = 1) as gone_transcripts,
  (select count(*) from problems) as problems,
  (select count(distinct transcript_id) from problems) as problem_transcripts,
  (select max(started_ms + ifnull(duration_ms, 0)) from runs) as last_run_ms,
  (select ifnull(sum(calls), 0) from call_sums) as calls,
  (select ifnull(sum(placeholders), 0) from call_sums) as placeholder_calls,
  (select count(*) from context_reports) as reports,
  (select strftime('%Y-%m-%d', max(time_ms) / 1000, 'unixepoch', 'localtime') from context_reports) as last_report;
