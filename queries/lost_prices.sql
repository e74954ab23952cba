-- lost_prices: list prices of a transcript's calls, USD a million tokens (D15); null = unpriced.
--   :transcript  the transcript
-- Columns: response_id. output_usd: of its output. intake_usd: of what it took in for the first time, which is what it
-- wrote to the cache, 5-minute and 1-hour share as billed; of a call that wrote none, uncached input.
select r.id as response_id, p.output_usd,
       case when c.cache_write_tokens = 0 then p.input_usd
            when c.cache_write_1h_tokens = 0 then p.cache_write_5m_usd
            else ((c.cache_write_tokens - c.cache_write_1h_tokens) * p.cache_write_5m_usd
                  + c.cache_write_1h_tokens * p.cache_write_1h_usd) / c.cache_write_tokens end as intake_usd
from responses as r
cross join api_calls as c on c.id = r.call_id
join prices as p on p.id = c.price_id
where r.thread_id = :transcript << 20 and r.id > 0;
