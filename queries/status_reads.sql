-- status_reads: the last read of a file's part and the last edit of the file, in a transcript's main thread.
--   :transcript  id of the transcript
--   :path        the file, as logged
--   :offset      of the part, as logged; null = not given
--   :limit       likewise
select (select max(id) from tool_uses
        where id >= :transcript << 40 and id < (:transcript + 1) << 40 and thread_id = :transcript << 20
          and path = :path and name = 'Read'
          and read_offset is :offset and read_limit is :limit) as read_id,
       (select max(id) from tool_uses
        where id >= :transcript << 40 and id < (:transcript + 1) << 40 and thread_id = :transcript << 20
          and path = :path
          and name in (select t.name from tool_traits as t where t.edits = 1)) as edit_id;
