-- sent_parts: what Claude Code logged of the parts that a request sends before its messages (D20): one row a tool or a
-- system part of an `api-request-shape` or `prompt_snapshot` record, one a file of an `instructions` record. No text.
--   record_id, place      the record, and its place there
--   shape_hash            of a shape: what requests.shape_hash names; else null
--   kind                  tool, system or file
--   name, path            of a tool its name, of a file its type and path
--   chars                 Unicode characters; of a tool those of its schema
--   soft, marks           what its estimate is made of (D9)
create view sent_parts as
select
  p.record_id,
  p.place,
  s.shape_hash,
  (select w.word from words w where w.id = p.kind) as kind,
  (select w.word from words w where w.id = p.name) as name,
  p.path,
  p.chars,
  p.soft,
  p.marks
from stored_sent_parts p
  left join request_shapes s on s.record_id = p.record_id;
