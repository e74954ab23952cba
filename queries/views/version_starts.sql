-- version_starts: where transcripts name another version of Claude Code than before, one row a record that does.
--   record_id             the record; transcript_id: its transcript
--   version               the version, from there on
create view version_starts as
select
  v.record_id,
  v.record_id >> 40 as transcript_id,
  (select w.word from words w where w.id = v.version) as version
from stored_version_starts v;
