#!/usr/bin/env bash
# The step of action.yml: checks FILES by POLICY, or what discreet.toml names, and leaves JUNIT and SARIF behind.
set -euo pipefail
arguments=(--junit "${JUNIT:-discreet-junit.xml}" --sarif "${SARIF:-discreet.sarif}")
if [ -n "${POLICY:-}" ]; then
  arguments+=(--policy "$POLICY")
fi
# One path on each line, or several with blanks between them.
read -r -d '' -a files <<< "${FILES:-}" || true
exec discreet check "${arguments[@]}" -- "${files[@]}"
