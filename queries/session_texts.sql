-- session_texts: the texts kept of a transcript's blocks (D16).
--   :transcript  id of the transcript
select block_id, text
from texts
where block_id >= :transcript << 40 and block_id < (:transcript + 1) << 40;
