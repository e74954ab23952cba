-- trend_segment: the messages of a transcript's main thread from one record to another, both included.
select id
from records
where id between :first and :last and thread_id = :transcript << 20 and message is not null
order by id;
