#!/usr/bin/env bash
# Build the wheel and the source archive, and use the wheel as a stranger would: in an environment that holds nothing else,
# without any extra. PYTHON names another interpreter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PYTHON:-python3}" -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet build twine
"$work/tools/bin/python" -m build --outdir "$work/dist" . >/dev/null 2>"$work/build.log" || { cat "$work/build.log" >&2; exit 1; }
"$work/tools/bin/twine" check --strict "$work"/dist/*
# What somebody needs who builds and tests from the source archive.
archived=$(tar -tzf "$work"/dist/*.tar.gz)
for part in src/discreet/__init__.py src/discreet/py.typed tests/conftest.py docs/index.md locked.txt Makefile README.md LICENSE; do
  grep -q "^[^/]*/$part\$" <<< "$archived" || { echo "the source archive lacks $part" >&2; exit 1; }
done

"${PYTHON:-python3}" -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet "$work"/dist/*.whl
cd "$work" # away from the source
discreet="$work/venv/bin/discreet"
"$discreet" --version
"$work/venv/bin/python" -c 'import discreet; assert "site-packages" in discreet.__file__, discreet.__file__'
# The loops were compiled when the wheel was built: no compiler is installed, and none runs while somebody waits.
"$work/venv/bin/python" -c 'from discreet.compiled import ahead; assert ahead is not None' 2>/dev/null ||
  { echo "no loop was compiled: that takes gcc, g++ and Python's headers; python hatch_build.py FOLDER says what it lacks" >&2; exit 1; }
"$work/venv/bin/python" -c 'import numba' 2>/dev/null && { echo "the core brings numba along" >&2; exit 1; }
core=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
weight=$(find "$core" -type f -not -name "*.pyc" -not -path "$core/pip*" -not -path "$core/setuptools*" -printf '%s\n' | awk '{sum += $1} END {printf "%.0f", sum / 1e6}')
[ "$weight" -le 450 ] || { echo "the core takes $weight MB, more than 450" >&2; exit 1; }
"$discreet" example town
"$discreet" suggest town/residents.csv -o policy.toml >/dev/null
code=0
"$discreet" audit town/residents.csv --policy policy.toml --quiet --report report.html >/dev/null || code=$?
[ -s report.html ] && [ "$code" -le 1 ] || { echo "the audit ended with $code" >&2; exit 1; }
"$discreet" anonymize town/residents.csv --policy policy.toml --output release.csv --report release.html --quiet >/dev/null
"$discreet" check release.csv --policy policy.toml >/dev/null
# A loop that was not compiled for what it is given says so: here that is an error.
for method in optimal subtree local mondrian clustering microaggregation; do
  PYTHONWARNINGS="error:no compiled loop" "$discreet" anonymize town/residents.csv --policy policy.toml --method "$method" --seconds 1 \
    --output "$method.csv" --quiet >/dev/null
done
PYTHONWARNINGS="error:no compiled loop" "$discreet" compare town/residents.csv mondrian.csv --policy policy.toml --labels "" >/dev/null
echo "audited, anonymised, compared and checked without any extra; $weight MB with all that the core needs"

# What needs an extra says which: where nothing can be done without it, by ending with 2.
lacks() { # expected code, name of the extra, command …
  local expected=$1 extra=$2 code=0 told
  shift 2
  told=$("$@" 2>&1 | tr -s '[:space:]' ' '; exit "${PIPESTATUS[0]}") || code=$?
  if [ "$code" != "$expected" ] || [[ "$told" != *"discreet[$extra]"* ]] || [[ "$told" == *Traceback* ]]; then
    printf 'without the extra %s: ended with %s and said\n%s\n' "$extra" "$code" "$told" >&2
    exit 1
  fi
}
lacks 2 web "$discreet" serve --no-browser
lacks 2 spark "$discreet" audit --engine spark town/residents.csv
lacks 0 ml "$discreet" compare town/residents.csv release.csv --policy policy.toml --labels diagnosis
echo "every missing extra is named"
