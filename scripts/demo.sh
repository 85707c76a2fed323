#!/usr/bin/env bash
# Plays a review of two rounds and a change map in a scratch project, with a
# finish that comes too early, and shows what the database knows afterwards.
# Usage: scripts/demo.sh PATH_OF_OCR
set -euo pipefail

bin=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
project=$(mktemp -d)
trap 'rm -rf "$project"' EXIT
cd "$project"
unset OCR_DIR OCR_DASHBOARD_EXECUTION_UID

say() { printf '\n== %s\n' "$*"; }

# ocr prints the command line and runs it.
ocr() {
    local word line='$ ocr'
    for word in "$@"; do
        case $word in
            *[[:space:]]*) line+=" \"$word\"" ;;
            *) line+=" $word" ;;
        esac
    done
    printf '%s\n' "$line"
    "$bin" "$@"
}

# refused runs a command that must end with the given exit code.
refused() {
    local want=$1 got=0
    shift
    ocr "$@" || got=$?
    printf '   exit code %s\n' "$got"
    [ "$got" = "$want" ] || { echo "demo: expected exit code $want" >&2; exit 1; }
}

walk() {
    local session=$1 phase
    shift
    for phase in "$@"; do
        ocr state advance --session-id "$session" --phase "$phase"
    done
}

review=2026-03-02-cart
map=2026-03-02-cart-map

say 'A project and a review'
ocr init
ocr state begin --session-id $review --branch feat/cart --workflow-type review
walk $review change-context analysis reviews

say 'An agent says it is finished. It is not.'
sleep 1 # a reviewer at work, so that the time per phase has something to show
refused 6 state finish --session-id $review

say 'Round 1 goes to its end: changes are requested'
walk $review aggregation discourse synthesis
cat > round-1.json <<'JSON'
{
  "schema_version": 1,
  "verdict": "REQUEST CHANGES",
  "reviewers": [
    {"type": "security", "instance": 1, "findings": [
      {"title": "Discount code is taken from the request unchecked", "category": "blocker", "severity": "high",
       "summary": "Any signed-in user can send a code of another shop; look it up by shop and code.",
       "file_path": "cart/discount.go", "line_start": 41, "line_end": 55}
    ]},
    {"type": "maintainer", "instance": 1, "findings": [
      {"title": "Rounding differs between cart and invoice", "category": "should_fix", "severity": "medium",
       "summary": "The cart rounds each line, the invoice rounds the sum.", "file_path": "cart/total.go", "line_start": 88},
      {"title": "The retry loop could say why it waits", "category": "suggestion", "severity": "low",
       "summary": "A comment with the limit of the payment service would help.", "file_path": "cart/pay.go"}
    ]}
  ]
}
JSON
ocr state complete-round --session-id $review --file round-1.json

say 'Round 2: the blocker is gone'
ocr state begin --session-id $review --branch feat/cart --workflow-type review
walk $review change-context analysis reviews aggregation discourse synthesis
mkdir -p .ocr/sessions/$review/rounds/round-2
printf '# Cart, round 2\n\nApproved; one suggestion left.\n' > .ocr/sessions/$review/rounds/round-2/final.md
cat > round-2.json <<'JSON'
{
  "schema_version": 1,
  "verdict": "APPROVE",
  "reviewers": [
    {"type": "security", "instance": 1, "findings": []},
    {"type": "maintainer", "instance": 1, "findings": [
      {"title": "The retry loop could say why it waits", "category": "suggestion", "severity": "low",
       "summary": "A comment with the limit of the payment service would help.", "file_path": "cart/pay.go"}
    ]}
  ]
}
JSON
ocr state complete-round --session-id $review --file round-2.json --require-final
ocr state finish --session-id $review

say 'A change map'
ocr state begin --session-id $map --branch feat/cart --workflow-type map
walk $map topology flow-analysis requirements-mapping synthesis
ocr state complete-map --session-id $map --stdin <<'JSON'
{
  "schema_version": 1,
  "sections": [
    {"section_number": 1, "title": "Prices", "description": "Where totals are made", "files": [
      {"file_path": "cart/total.go", "role": "sums the lines", "lines_added": 31, "lines_deleted": 12},
      {"file_path": "cart/discount.go", "role": "applies codes", "lines_added": 54, "lines_deleted": 3}
    ]},
    {"section_number": 2, "title": "Payment", "files": [
      {"file_path": "cart/pay.go", "role": "talks to the payment service", "lines_added": 20, "lines_deleted": 4}
    ]}
  ]
}
JSON
ocr state finish --session-id $map

say 'What the database knows: status, timeline, time per phase, findings'
ocr state list
ocr state status --session-id $review --json
ocr state events --session-id $review
ocr db query "SELECT visit, round, phase, seconds FROM phase_timings WHERE session_id = '$review' ORDER BY visit"
ocr db query 'SELECT round_number AS round, verdict, blocker_count AS blockers, total_finding_count AS findings FROM review_rounds ORDER BY round_number'
ocr db query 'SELECT r.round_number AS round, o.reviewer_type AS reviewer, f.category, f.severity, f.title FROM review_findings AS f JOIN reviewer_outputs AS o ON o.id = f.reviewer_output_id JOIN review_rounds AS r ON r.id = o.round_id ORDER BY r.round_number, f.id'
ocr db query 'SELECT session_id, round, reviewer, title, triage FROM open_findings'

say 'Not even plain SQL records unfinished work as finished'
ocr state begin --session-id 2026-03-03-open --branch main --workflow-type review
if command -v sqlite3 >/dev/null; then
    statement="UPDATE sessions SET status = 'closed' WHERE id = '2026-03-03-open'"
    printf '$ sqlite3 .ocr/data/ocr.db "%s"\n' "$statement"
    if sqlite3 .ocr/data/ocr.db "$statement"; then
        echo 'demo: the database let an unfinished session be closed' >&2
        exit 1
    fi
else
    echo '(no sqlite3 shell here: skipped)'
fi
refused 6 state finish --session-id 2026-03-03-open
echo
echo 'demo: done'
