#!/usr/bin/env python3
"""Times `ocr state status --json` against one sqlite3 call that reads the same.

Both run as whole processes on a project with ten sessions, 40 times each, in
turn. Prints the medians in milliseconds and their ratio, and what all packages
together take to initialise before main: for each the median of the runs. Exits
1 if the ratio is above 2.5 or the packages take 1 ms or more. Measure on a
machine that does nothing else.

Usage: bench_status.py PATH_OF_OCR
"""

import collections
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RUNS = 40
LIMIT = 2.5
INIT_LIMIT = 1.0
PHASES = ["change-context", "analysis", "reviews"]


def main(binary):
    if not shutil.which("sqlite3"):
        print("SKIPPED: there is no sqlite3 shell to compare with")
        return 0
    project = tempfile.mkdtemp()
    env = {k: v for k, v in os.environ.items() if not k.startswith("OCR_")}

    def run(argv):
        start = time.perf_counter()
        subprocess.run(argv, cwd=project, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return (time.perf_counter() - start) * 1000

    try:
        run([binary, "init"])
        for n in range(10):
            name = f"s{n}"
            run([binary, "state", "begin", "--session-id", name, "--branch", "b", "--workflow-type", "review"])
            for phase in PHASES:
                run([binary, "state", "advance", "--session-id", name, "--phase", phase])
        ours = [binary, "state", "status", "--session-id", "s5", "--json"]
        query = ("SELECT * FROM sessions WHERE id = 's5';"
                 "SELECT * FROM session_completeness WHERE session_id = 's5';"
                 "SELECT * FROM session_projection WHERE session_id = 's5';")
        shell = ["sqlite3", ".ocr/data/ocr.db", query]
        times = {"ocr": [], "sqlite3": []}
        for _ in range(RUNS):
            times["ocr"].append(run(ours))
            times["sqlite3"].append(run(shell))
    finally:
        shutil.rmtree(project, ignore_errors=True)
    median = {name: statistics.median(values) for name, values in times.items()}
    ratio = median["ocr"] / median["sqlite3"]
    print(f"median of {RUNS}: ocr {median['ocr']:.2f} ms, sqlite3 {median['sqlite3']:.2f} ms, ratio {ratio:.2f} (limit {LIMIT})")
    init = init_time(binary)
    print(f"packages initialise in {init:.2f} ms (limit {INIT_LIMIT})")
    return 0 if ratio <= LIMIT and init < INIT_LIMIT else 1


def init_time(binary):
    clocks = collections.defaultdict(list)
    for _ in range(RUNS):
        trace = subprocess.run([binary, "version"], env={**os.environ, "GODEBUG": "inittrace=1"},
                               check=True, capture_output=True, text=True).stderr
        for package, clock in re.findall(r"^init (\S+) @\S+ ms, (\S+) ms clock", trace, re.M):
            clocks[package].append(float(clock))
    return sum(statistics.median(values) for values in clocks.values())


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
