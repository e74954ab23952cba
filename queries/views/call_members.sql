-- call_members: which responses are one billed API call (D1), one row a response that logged a usage.
--   call_id               the call: api_calls.id
--   response_id           the response: responses.id
create view call_members as
select r.id as call_id, r.id as response_id
from stored_responses r
where r.shared_call_id is null and r.flags & 8
union all
select r.shared_call_id, r.id
from stored_responses r
where r.shared_call_id is not null;
