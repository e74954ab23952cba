-- doctor_unpriced: models whose calls have no list price (D15), most calls first.
select model, sum(calls) as calls
from call_sums
where price_id is null and model not like '<%'
group by model
order by calls desc, model;
