{# A generic test: each row that it gives is a requirement of the policy that the model does not meet. #}
{% test may_be_released(model, policy) %}
select unnest(discreet_obstacles('{{ model }}', '{{ policy }}')) as obstacle
{% endtest %}
