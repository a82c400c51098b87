#!/usr/bin/env bash
# Run the examples of pipelines with dbt, Dagster and Airflow, each in an environment of its own: a table that may be released
# goes through, one that may not is stopped. PYTHON names another interpreter, ENVIRONMENTS a folder that keeps the environments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r examples/pipelines/. "$work"
environments=${ENVIRONMENTS:-$work/environments}
for tool in dbt dagster airflow; do
  if [ ! -x "$environments/$tool/bin/discreet" ]; then
    "${PYTHON:-python3}" -m venv "$environments/$tool"
    # Newer versions of dbt fetch a part of themselves from elsewhere while they are installed.
    case $tool in
      dbt) package="dbt-duckdb dbt-core<1.11" ;;
      dagster) package=dagster ;;
      airflow) package="apache-airflow>=3 apache-airflow-providers-standard" ;;
    esac
    # shellcheck disable=SC2086
    "$environments/$tool/bin/pip" install --quiet --prefer-binary $package "$source"
  fi
done

ends() { # expected code, command …
  local expected=$1 code=0
  shift
  "$@" >"$work/log" 2>&1 || code=$?
  if [ "$code" != "$expected" ]; then
    cat "$work/log" >&2
    echo "ended with $code, not $expected: $*" >&2
    exit 1
  fi
}

cd "$work/dbt"
export DBT_SEND_ANONYMOUS_USAGE_STATS=0
dbt=$environments/dbt/bin/dbt
ends 0 "$dbt" build --profiles-dir .
ends 1 "$dbt" build --profiles-dir . --vars 'years: 1'
grep -q "FAIL 2 may_be_released" "$work/log"
echo "dbt: what may be released passes, what may not fails"

cd "$work/dagster"
export DAGSTER_HOME=$work DAGSTER_DISABLE_TELEMETRY=1 PATH=$environments/dagster/bin:$PATH
ends 1 dagster asset materialize --select '*' -f definitions.py --config-json '{"ops": {"open_data": {"config": {"years": 1}}}}'
[ ! -e published.csv ] || { echo "Dagster published what may not be released" >&2; exit 1; }
ends 0 dagster asset materialize --select '*' -f definitions.py
[ -s published.csv ] || { echo "Dagster published nothing" >&2; exit 1; }
echo "Dagster: what may be released is published, what may not is not"

cd "$work/airflow"
export AIRFLOW_HOME=$work/airflow-home AIRFLOW__CORE__DAGS_FOLDER=$work/airflow AIRFLOW__CORE__LOAD_EXAMPLES=False
export PATH=$environments/airflow/bin:$PATH
ends 0 airflow db migrate
ends 1 airflow dags test open_data --conf '{"years": 1}'
[ ! -e published.csv ] || { echo "Airflow published what may not be released" >&2; exit 1; }
ends 0 airflow dags test open_data
[ -s published.csv ] || { echo "Airflow published nothing" >&2; exit 1; }
echo "Airflow: what may be released is published, what may not is not"
