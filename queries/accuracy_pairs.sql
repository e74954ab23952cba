-- accuracy_pairs: what stands between two calls of a thread that follow each other, and by how much the second one's
-- context is larger, exactly (D9). One row a block; the blocks of a pair stand together. Both calls are of one model, and
-- nothing was compacted or rewound between them.
--   :most     pairs of a model, the latest; null for all
--   :since    UTC milliseconds, null for all time
--   :project  part of a project's path, null for all
-- pair is the first call's response; growth in tokens. kind, soft, marks and extra as in blocks; share is the block's
-- share of the billed output, null where its estimate stands; tool gave it, of a result; is_answer: it is of the first
-- call's answer.
with told as materialized (
  select id, row_number() over (partition by model order by last_ms desc, id desc) as nth
  from stored_responses
  where id > 0 and flags & 14 = 8 and model is not null
    and input_tokens + cache_read_tokens + cache_write_tokens > 0
    and ifnull(last_ms, 0) >= ifnull(:since, 0)
    and (:project is null or thread_id >> 20 in (
      select t.id from projects as p join sessions as s on s.project_id = p.id
      join transcripts as t on t.session_id = s.id
        where instr(replace(lower(p.path), '\', '/'), replace(lower(:project), '\', '/'))))
),
pair as materialized (
  select t.id, n.id as next_id, t.thread_id & ((1 << 20) - 1) as thread, t.branch, t.epoch, t.model,
         n.input_tokens + n.cache_read_tokens + n.cache_write_tokens
           - (t.input_tokens + t.cache_read_tokens + t.cache_write_tokens) as growth
  from told
  cross join stored_responses as t on t.id = told.id
  cross join stored_responses as n on n.id = (
    select min(x.id) from stored_responses as x where x.thread_id = t.thread_id and x.id > t.id and not x.flags & 6)
  where told.nth <= ifnull(:most, told.nth) and n.ordinal = t.ordinal + 1 and n.branch = t.branch and n.epoch = t.epoch
    and n.model = t.model and n.flags & 8
)
select p.id as pair, w.word as model, p.growth, (select k.word from words as k where k.id = b.kind) as kind,
       b.soft, b.marks, b.extra, b.share, (select k.word from words as k where k.id = u.name) as tool,
       r.response_back is not null as is_answer
from pair as p
cross join words as w on w.id = p.model
-- by ranges of ids: the planner would walk all records of a branch
cross join stored_records as r on r.id >= p.id and r.id < p.next_id and +r.thread = p.thread and +r.branch = p.branch
  and +r.epoch = p.epoch
cross join stored_blocks as b on b.id >= r.id and b.id < r.id + r.length
left join stored_tool_uses as u on u.id = b.id - b.use_back
where p.growth > 0
order by p.id;
