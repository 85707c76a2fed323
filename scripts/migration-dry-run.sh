#!/usr/bin/env bash
# Tries the upgrade of database files on private copies and prints one summary
# of all, for a CI job. The files stay as they are and may be read-only.
# Usage: scripts/migration-dry-run.sh [--format markdown|junit] [--project DIR] FILE...
# With --project the files are copies from that project: the repair of sessions
# looks at the files of the sessions there.
# The variable OCR names the program; without it, it is the one on PATH.
# Exit code 0: every upgrade would succeed. 1: one would fail. 2: usage.
set -euo pipefail

usage() { sed -n 's/^# Usage: /usage: /p' "$0"; }
misused() { usage >&2; exit 2; }

format=markdown
project=()
while [ $# -gt 0 ]; do
    case $1 in
    --help | -h) usage; exit 0 ;;
    --format) [ $# -gt 1 ] || misused; format=$2; shift 2 ;;
    --project) [ $# -gt 1 ] || misused; project=("--project=$2"); shift 2 ;;
    --) shift; break ;;
    -*) misused ;;
    *) break ;;
    esac
done
case $format in markdown | junit) ;; *) misused ;; esac
[ $# -gt 0 ] || misused

answers=$(mktemp -d)
trap 'rm -rf "$answers"' EXIT
n=0
for file in "$@"; do
    # What fails says so in its answer.
    "${OCR:-ocr}" db migrate --dry-run --json --db="$file" ${project[@]+"${project[@]}"} >"$answers/$n" 2>"$answers/$n.words" || true
    n=$((n + 1))
done

python3 - "$format" "$answers" "$@" <<'PYTHON'
import json
import pathlib
import re
import sys
from xml.sax.saxutils import escape, quoteattr

form, answers, files = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]


def read(number):
    try:
        answer = json.loads((answers / str(number)).read_text())
    except ValueError:
        words = (answers / f"{number}.words").read_text(errors="replace")
        answer = {"error": {"message": "no answer: " + words.strip()}}
    return answer


def written(answer):
    return sum(rows["inserted"] + rows["updated"] + rows["deleted"]
               for step in answer.get("steps", []) for rows in step["rows"])


def cell(text):
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|")


def plain(text):
    return re.sub(r"[^\t\n -\ud7ff\ue000-\ufffd]", "?", text)


results = [(file, read(number)) for number, file in enumerate(files)]
faults = [answer["error"]["message"] for _, answer in results if "error" in answer]
if form == "markdown":
    print("| file | from | to | steps | rows written | ms | result |")
    print("|---|---|---|---|---|---|---|")
    for file, answer in results:
        verdict = "ok" if "error" not in answer else "FAIL: " + answer["error"]["message"]
        print("|", " | ".join(cell(value) for value in (
            file, answer.get("from", "?"), answer.get("to", "?"), len(answer.get("steps", [])),
            written(answer), round(answer.get("duration_ms", 0)), verdict)), "|")
    print(f"\n{len(results)} files, {len(faults)} would fail")
else:
    print('<?xml version="1.0" encoding="UTF-8"?>')
    print(f'<testsuite name="migration dry run" tests="{len(results)}" failures="{len(faults)}">')
    for file, answer in results:
        seconds = answer.get("duration_ms", 0) / 1000
        print(f'  <testcase classname="migration" name={quoteattr(plain(file))} time="{seconds:.3f}">')
        if "error" in answer:
            message = plain(answer["error"]["message"])
            print(f"    <failure message={quoteattr(message)}>{escape(message)}</failure>")
        print("  </testcase>")
    print("</testsuite>")
sys.exit(1 if faults else 0)
PYTHON
