-- session_pasted: the last /context that the user pasted, for whichever session.
select version, rows
from context_reports
where id < 0
order by time_ms desc, id
limit 1;
