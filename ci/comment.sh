#!/usr/bin/env bash
# Comments report.md and history.md on the pull request PULL_REQUEST, or changes the comment that it made before.
set -euo pipefail
marker='<!-- sidecar cost -->'
{ echo "$marker"; cat report.md history.md; } | head -c 65000 > comment.md
comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
own=".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id"
id=$(gh api --paginate "$comments" --jq "$own" | tail -n 1)
if [ -n "$id" ]; then
  gh api --silent -X PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" -F body=@comment.md
else
  gh pr comment "$PULL_REQUEST" --body-file comment.md
fi
