#!/bin/sh
# Stored runs of released versions open, answer as they did, and can be continued: tests/stored_runs.
exec python3 "$2/tests/stored_runs/stored_runs.py" check "$1"
