#!/bin/sh
# One agent for each file that is named, side by side, each in a worktree of its own; then what each has changed.
#
#   review.sh BACKEND FILE…
set -eu
backend=$1
shift
ids=
for file in "$@"; do
    id=$(orch spawn --backend "$backend" --json "Review $file" | python3 -c 'import json, sys; print(json.load(sys.stdin)["agent"]["id"])')
    ids="$ids $id"
done
# shellcheck disable=SC2086  # ids hold no spaces
orch wait $ids
for id in $ids; do
    orch diff "$id"
done
