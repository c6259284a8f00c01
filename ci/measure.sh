#!/usr/bin/env bash
# Measures SCRIPTS beside AGAINST (the kit's, where it is empty) into results/now, and ends with the status of `bench`.
# The runs that BRANCH keeps are laid beside it, in results/kept, for the history.
set -euo pipefail
kit=$(cd "$(dirname "$0")/.." && pwd)

if [ -n "$BRANCH" ] && [ ! -e results/kept ]; then
  # A branch that is not there yet begins empty.
  if git fetch -q origin "$BRANCH"; then
    git worktree add -q --detach results/kept FETCH_HEAD
  else
    empty=$(git -c user.name=bench -c user.email=bench@localhost commit-tree -m 'Keep runs' "$(git mktree </dev/null)")
    git worktree add -q --detach results/kept "$empty"
  fi
fi

old=pipy${AGAINST:+=$AGAINST}
new=pipy=$SCRIPTS
words=(--planes "none,$old,$new" --cpu "$CPU" --out results/now)
words+=(--threshold "pipy=$(basename "$SCRIPTS")/pipy${AGAINST:+=$(basename "$AGAINST")} cpuPerRequest <= $THRESHOLD")
if [ -n "$PRECISION" ]; then words+=(--precision "$PRECISION"); fi
# Only root sets CPU limits on a hosted runner.
root=()
if [ "$(id -u)" != 0 ]; then root=(sudo -E env "PATH=$PATH"); fi
status=0
${root[@]+"${root[@]}"} node "$kit/src/cli.js" bench "${words[@]}" || status=$?
${root[@]+"${root[@]}"} chown -R "$(id -u)" results
exit $status
