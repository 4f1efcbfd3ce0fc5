#!/bin/sh
# The experiments of the paper, one after the other; options go to all of them: --quick, --report, --seed N, --out
# FOLDER. Many hours; rows that are there (build/paper) are not done again. One that fails does not stop the next; the
# exit code says that it did.
#   experiments/paper/run.sh [OPTION...]        ONLY="completion topics" for some of them
set -u
here=$(cd "$(dirname "$0")" && pwd)
trap 'exit 130' INT TERM
failed=""
for name in ${ONLY:-completion time_auc topics cold_start scaling}; do
  [ -f "$here/$name.py" ] || { echo "$name: no such experiment" >&2; failed="$failed $name"; continue; }
  echo "== $name"
  ${PYTHON:-/usr/bin/python3} "$here/$name.py" "$@" || failed="$failed $name"
done
[ -z "$failed" ] || { echo "not complete:$failed" >&2; exit 1; }
