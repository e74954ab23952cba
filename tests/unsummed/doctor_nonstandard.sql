-- doctor_nonstandard: speeds, tiers and places of calls that the price list has no price for (D15), most calls first:
-- fast mode, inference in one country, batches. Such calls are costed as standard.
select c.speed as mode, count(*) as calls
from api_calls c left join prices p on p.id = c.price_id
where c.speed is not null and c.speed is not p.speed
group by c.speed
order by calls desc, c.speed;
