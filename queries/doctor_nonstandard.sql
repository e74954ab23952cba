-- doctor_nonstandard: speeds, tiers and places of calls that the price list has no price for (D15), most calls first:
-- fast mode, inference in one country, batches. Such calls are costed as standard.
select s.mode, sum(s.calls) as calls
from call_sums s left join prices p on p.id = s.price_id
where s.mode is not null and s.mode is not p.speed
group by s.mode
order by calls desc, s.mode;
