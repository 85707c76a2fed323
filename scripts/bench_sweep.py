#!/usr/bin/env python3
"""Times `ocr state sweep` at 10,000 sessions, 1,000,000 events and 50,000
process rows, and at a tenth of each.

In the first run at each size one session of 50 is idle for too long and one
process of 100 is dead; the second run finds nothing to do. Prints the times in
seconds. Exits 1 if the larger first run takes more than 20 times the smaller
one, or a run with nothing to do more than twice the sqlite3 shell's
quick_check in the same run.

Usage: bench_sweep.py PATH_OF_OCR
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

GROWTH_LIMIT = 20
IDLE_LIMIT = 2
DEAD_PID = 2000000000  # above every system's limit
FILL = """
PRAGMA synchronous = OFF;
BEGIN;
CREATE TEMP TABLE n AS
WITH RECURSIVE i AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM i WHERE n < {sessions})
SELECT n FROM i;
INSERT INTO sessions (id, branch, workflow_type, session_dir)
SELECT 'bench-' || n, 'b', 'review', '.ocr/sessions/bench-' || n FROM n;
INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, created_at)
SELECT 'bench-' || n, 'session_created', 'context', 1, 1, datetime('now', '-9 days') FROM n;
INSERT INTO orchestration_events (session_id, event_type, phase, phase_number, round, created_at)
SELECT 'bench-' || a.n, 'phase_transition', 'context', 1, 1,
    CASE WHEN a.n % 50 = 0 THEN datetime('now', '-8 days') ELSE datetime('now') END
FROM n AS b, n AS a WHERE b.n < 100;
INSERT INTO command_executions (uid, command, workflow_id, exit_code, finished_at, pid, last_heartbeat_at, started_at)
SELECT 'run-' || a.n || '-' || b.n, 'session-instance', 'bench-' || a.n,
    CASE WHEN b.n = 1 AND a.n % 20 = 3 THEN NULL ELSE 0 END,
    CASE WHEN b.n = 1 AND a.n % 20 = 3 THEN NULL ELSE datetime('now') END,
    {dead}, datetime('now', '-1 hours'), datetime('now', '-1 hours')
FROM n AS a, n AS b WHERE b.n <= 5;
COMMIT;
"""


def measure(binary, sessions):
    project = tempfile.mkdtemp()
    env = {k: v for k, v in os.environ.items() if not k.startswith("OCR_")}
    database = os.path.join(project, ".ocr", "data", "ocr.db")

    def run(argv, **more):
        start = time.perf_counter()
        done = subprocess.run(argv, cwd=project, env=env, check=True, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more)
        return time.perf_counter() - start, done.stdout

    try:
        run([binary, "init"])
        run([binary, "state", "begin", "--session-id", "s", "--branch", "b", "--workflow-type", "review"])
        run(["sqlite3", "-bail", database], input=FILL.format(sessions=sessions, dead=DEAD_PID))
        sweep = [binary, "state", "sweep", "--json"]
        busy, result = run(sweep)
        print(f"{sessions} sessions: {busy:.2f} s to sweep {json.dumps(summary(result))}")
        idle = statistics.median(run(sweep)[0] for _ in range(3))
        check = statistics.median(run(["sqlite3", database, "PRAGMA quick_check"])[0] for _ in range(3))
        print(f"{sessions} sessions: {idle:.3f} s with nothing to sweep, quick_check {check:.3f} s, ratio {idle / check:.2f} (limit {IDLE_LIMIT})")
        return busy, idle / check
    finally:
        shutil.rmtree(project, ignore_errors=True)


def summary(result):
    return {key: len(value) for key, value in json.loads(result).items() if isinstance(value, list)}


def main(binary):
    if not shutil.which("sqlite3"):
        print("SKIPPED: there is no sqlite3 shell to fill and check a database with")
        return 0
    small, _ = measure(binary, 1000)
    large, idle = measure(binary, 10000)
    print(f"ten times the rows take {large / small:.1f} times as long (limit {GROWTH_LIMIT})")
    return 0 if large / small <= GROWTH_LIMIT and idle <= IDLE_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
