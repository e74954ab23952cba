-- problems: places in transcripts that are damaged or odd (D5): where, how many bytes, and what is wrong.
select t.path, p.offset, p.length, p.reason
from problems as p
join transcripts as t on t.id = p.transcript_id
order by t.path, p.offset, p.reason;
