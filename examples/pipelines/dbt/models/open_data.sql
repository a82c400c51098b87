-- 4,800 made-up patients; a real model would select from its sources.
{{ config(materialized="table") }}
select
    20 + person % 60 // {{ var("years") }} * {{ var("years") }} as age_from,
    ['f', 'm'][1 + person // 60 % 2] as sex,
    ['North', 'South', 'East', 'West'][1 + person // 120 % 4] as district,
    ['flu', 'cold', 'gout', 'asthma', 'none'][1 + person // 7 % 5] as diagnosis
from range(4800) as people(person)
