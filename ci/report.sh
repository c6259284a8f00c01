#!/usr/bin/env bash
# Writes report.md, history.md, junit.xml and results/history of results/now, and the summary of the job.
set -euo pipefail
kit=$(cd "$(dirname "$0")/.." && pwd)
report() { node "$kit/src/cli.js" report results/now "$@"; }

report --format md > report.md
report --format junit > junit.xml
report --history --format md > history.md
report --history --format html --out results/history
cat report.md history.md >> "$GITHUB_STEP_SUMMARY"
