-- live_price: what the prices of a call say that a write to the cache and a read cost, USD a million tokens.
--   :response  id of a response
-- Columns: short_usd: a write for 5 minutes. long_usd: for an hour. read_usd: a read. Null, or no row = not known.
select p.cache_write_5m_usd as short_usd, p.cache_write_1h_usd as long_usd, p.cache_read_usd as read_usd
from stored_responses as r
cross join stored_calls as c on c.id = ifnull(r.shared_call_id, r.id)
cross join prices as p on p.id = c.price_id
where r.id = :response;
