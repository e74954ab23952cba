-- transcript_projects: the project of each transcript, to look for by a part of its path in any case and with any slashes.
--   transcript_id         the transcript; session_key: its session
--   project               the project's path
--   sought                the same in small letters, with / for \: look for replace(lower(...), '\', '/') in it
create view transcript_projects as
select t.id as transcript_id, s.id as session_key, p.path as project, replace(lower(p.path), '\', '/') as sought
from projects p
  join sessions s on s.project_id = p.id
  join transcripts t on t.session_id = s.id;
