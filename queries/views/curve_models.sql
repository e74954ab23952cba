-- curve_models: the models of each thread's calls, one row a model (X-ctx): sums that the index keeps.
--   thread_id             whose calls: what occurs in the thread, copies too
--   model                 as logged; null = none
--   calls                 how many, without advisors' and those of no tokens
--   peak_tokens           most context tokens of one, exact
--   first_id, last_id     the first and the last response
--   fall_tokens           by how much the context fell from the call before at most; null = there is none before
create view curve_models as
select
  s.thread_id,
  (select w.word from words w where w.id = s.model) as model,
  sum(s.calls) as calls,
  max(s.peak_tokens) as peak_tokens,
  min(s.first_id) as first_id,
  max(s.last_id) as last_id,
  max(s.fall_tokens) as fall_tokens
from stored_curve_models s
group by s.thread_id, s.model;
