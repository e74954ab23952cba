-- doctor_unpriced: models whose calls have no list price (D15), most calls first.
select model, count(*) as calls
from api_calls
where price_id is null and model not like '<%'
group by model
order by calls desc, model;
