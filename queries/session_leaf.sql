-- session_leaf: the leaf that the last last-prompt record of a transcript names, if it stands behind a record (D10).
--   :transcript  id of the transcript
--   :after       id of the record it has to stand behind
select id, parent_uuid
from records
where id > :after and id < (:transcript + 1) << 40 and type = 'last-prompt' and parent_uuid is not null
order by id desc
limit 1;
