#!/usr/bin/env bash
# Adds results/now to the branch BRANCH, which results/kept has checked out.
set -euo pipefail
name="$GITHUB_RUN_ID-$GITHUB_RUN_ATTEMPT"
mkdir "results/kept/$name"
cp results/now/manifest.json results/now/trials.jsonl "results/kept/$name"
cd results/kept
git add .
git -c user.name=bench -c user.email=bench@localhost commit -q -m "Run $name"
git push -q origin "HEAD:refs/heads/$BRANCH"
