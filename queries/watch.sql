-- watch: the text kept of one block (D16).
--   :block  its id
select text
from texts
where block_id = :block;
