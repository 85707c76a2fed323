#!/usr/bin/env bash
# Runs recorded conformance cases against the program.
# CONFORMANCE_DIR names the folder with conform.py, cases and golden; without
# it there is nothing to compare with, and that is said.
# Usage: scripts/conformance.sh PATH_OF_OCR
set -euo pipefail

if [ -z "${CONFORMANCE_DIR:-}" ]; then
    echo 'SKIPPED: conformance cases, CONFORMANCE_DIR is not set'
    exit 0
fi
python3 "$CONFORMANCE_DIR/conform.py" check --bin "$1" \
    --cases "$CONFORMANCE_DIR/cases" --golden "$CONFORMANCE_DIR/golden" \
    --tag main --tag journal --tag upgrade --tag doctor
