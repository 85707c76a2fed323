#!/usr/bin/env bash
# The generated code must be what the SQL makes of it: fresh, fully typed, and
# committed.
set -euo pipefail

if LC_ALL=C grep -nP '[^\x00-\x7F]' db/schema/*.sql db/queries/*.sql; then
    echo 'verify: SQL must be plain ASCII: sqlc cuts statements after other characters' >&2
    exit 1
fi
make generate
accessors=(db/gen/*.sql.go db/gen/models.go)
[ -s "${accessors[0]}" ] || { echo 'verify: nothing was generated' >&2; exit 1; }
if grep -nE 'interface\{\}|Column[0-9]|dollar_[0-9]' "${accessors[@]}"; then
    echo 'verify: a query or view column has no type: CAST it, or add an override to sqlc.yaml' >&2
    exit 1
fi
git diff --exit-code -- db/gen
untracked=$(git ls-files --others --exclude-standard -- db)
[ -z "$untracked" ] || { echo "verify: not committed: $untracked" >&2; exit 1; }
if [ -n "${CI:-}" ]; then
    [ -z "$(git status --porcelain)" ] || { git status --short; echo 'verify: the tree is not clean' >&2; exit 1; }
fi
