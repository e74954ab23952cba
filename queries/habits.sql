-- habits: what the user's own history says of windows, ready-made by the index (D10).
-- Columns as in the table: kind (limit, buffer, prior, range_low, range_high), scope, since_ms, value, support.
select kind, scope, since_ms, value, support
from habits
order by kind, scope, since_ms;
