#!/bin/sh
# A few kills and a few full disks, as experiments/reliability.py does by the hundred, and flat memory. The moments are
# drawn with a fixed seed, but when they fall is up to the machine; nothing may go wrong at any of them.
. "$2/tests/cli/common.sh.inc"
reliability() {
  python3 "$source_dir/experiments/reliability.py" "$@" --program "$ztp"
}
kills=8 full=4
[ -z "${ZTP_SANITIZE:-}" ] || kills=4 full=2  # each takes many times as long
expect 0 ', 0 of the fits not the same in the end' reliability kills --count $kills
# Sanitizers keep memory of their own.
[ -n "${ZTP_SANITIZE:-}" ] || expect 0 'more than after the first hundredth' reliability sweeps --count 40000
got=0
reliability full --count $full >out.txt 2>&1 || got=$?
[ "$got" -ne 77 ] || echo "full disks skipped: no file system can be mounted here"
[ "$got" -eq 77 ] || grep -qF ": $full clear errors, $full intact checkpoints" out.txt || { cat out.txt; failed=1; }
finish
