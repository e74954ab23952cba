-- message_offsets: how many messages of its session stand in the transcripts before each main one (D3, D7): what turns
-- the number of a message in its transcript into that of every report. One row a transcript; of a subagent's 0.
--   transcript_id         the transcript
--   before                messages of the session's main transcripts before it
create view message_offsets as
select
  t.id as transcript_id,
  iif(t.kind = 'main', ifnull((
    select sum(h.messages) from transcripts o cross join threads h on h.id = o.id << 20
    where o.session_id = t.session_id and o.kind = 'main' and o.in_view = 1 and o.superseded = 0
      and (o.first_ms is null, o.first_ms, o.path) < (t.first_ms is null, t.first_ms, t.path)), 0), 0) as before
from transcripts t;
