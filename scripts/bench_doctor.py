#!/usr/bin/env python3
"""Times `ocr doctor` against the sqlite3 shell's quick_check and
foreign_key_check on a project with many events.

Makes 10,000 sessions with 1,000,000 events (or EVENTS), runs each program
RUNS times in turn, prints the medians in seconds and their ratio; exits 1 if
the ratio is above 3 or doctor finds anything.

Usage: bench_doctor.py PATH_OF_OCR [EVENTS]
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 3
LIMIT = 3.0
FILL = """
PRAGMA synchronous = OFF;
BEGIN;
CREATE TEMP TABLE n AS
WITH RECURSIVE i AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM i WHERE n < {sessions})
SELECT n FROM i;
INSERT INTO sessions (id, branch, workflow_type, session_dir)
SELECT 'bench-' || n, 'b', 'review', '.ocr/sessions/bench-' || n FROM n;
INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round)
SELECT 'bench-' || n, 'session_created', 'context', 1, 1 FROM n;
INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, metadata)
SELECT 'bench-' || a.n, 'phase_transition', 'context', 1, 1, '{{"note":"' || b.n || '"}}'
FROM n AS b, n AS a WHERE b.n <= {each};
INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round)
SELECT 'bench-' || n, 'session_aborted', 'context', 1, 1 FROM n;
UPDATE sessions SET status = 'closed', current_phase = 'complete' WHERE id LIKE 'bench-%';
COMMIT;
"""


def main(binary, events):
    if not shutil.which("sqlite3"):
        print("SKIPPED: there is no sqlite3 shell to compare with")
        return 0
    project = tempfile.mkdtemp()
    env = {k: v for k, v in os.environ.items() if not k.startswith("OCR_")}
    database = os.path.join(project, ".ocr", "data", "ocr.db")

    def run(argv, **more):
        start = time.perf_counter()
        done = subprocess.run(argv, cwd=project, env=env, stdout=subprocess.PIPE, **more)
        return time.perf_counter() - start, done

    try:
        run([binary, "init"], check=True)
        run([binary, "state", "begin", "--session-id", "s", "--branch", "b", "--workflow-type", "review"], check=True)
        sessions = max(1, events // 100)
        run(["sqlite3", "-bail", database], check=True, text=True,
            input=FILL.format(sessions=sessions, each=max(0, events // sessions - 2)))
        size = os.path.getsize(database)
        shell = ["sqlite3", "-readonly", database, "PRAGMA quick_check; PRAGMA foreign_key_check;"]
        times = {"ocr": [], "sqlite3": []}
        for _ in range(RUNS):
            seconds, done = run([binary, "doctor", "--json"])
            report = json.loads(done.stdout)
            bad = [f"{c['id']}: {c['measured']}" for c in report["checks"] if c["status"] in ("fail", "unknown")]
            if bad:
                print("doctor found what is not there:", "; ".join(bad))
                return 1
            times["ocr"].append(seconds)
            times["sqlite3"].append(run(shell, check=True)[0])
    finally:
        shutil.rmtree(project, ignore_errors=True)
    median = {name: statistics.median(values) for name, values in times.items()}
    ratio = median["ocr"] / median["sqlite3"]
    print(f"{events} events, {size / 2**20:.0f} MiB, median of {RUNS}: ocr doctor {median['ocr']:.2f} s, "
          f"sqlite3 quick_check and foreign_key_check {median['sqlite3']:.2f} s, ratio {ratio:.2f} (limit {LIMIT})")
    return 0 if ratio <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000))
