-- trend_kept: tokens of the messages that boundaries name as preserved.
--   :kept  JSON array of [boundary, record]
-- Columns: boundary, tokens (D9).
select k.value ->> 0 as boundary, sum(b.tokens) as tokens
from json_each(:kept) as k
join records as r on r.id = k.value ->> 1 and r.message is not null
cross join blocks as b on b.id >= r.id and b.id < r.id + r.length
group by boundary;
