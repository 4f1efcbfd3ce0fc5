#!/bin/sh
# The benchmark suite runs, every part of it has figures, and bad options are usage errors.
. "$2/tests/cli/common.sh.inc"

# Without the program of the suite (Google Benchmark was not there) its absence must be explained, and no more can be
# tested.
if [ ! -x "$(dirname "$ztp")/ztp-bench" ]; then
  expect 6 'make bench' "$ztp" bench --quick
  [ "$failed" -eq 0 ] && exit 77
  finish
fi
cp "$ztp" alone
expect 6 'make bench' ./alone bench --quick

expect 0 'Examples' "$ztp" bench --help
expect 2 '--nonsense' "$ztp" bench --nonsense
expect 2 'not in {' "$ztp" bench --only nothing
expect 2 'extra' "$ztp" bench --quick extra
expect 6 'cannot write' "$ztp" bench --quick --json nowhere/bench.json
expect 6 'nothing.tsv' "$ztp" bench --quick --tensor nothing.tsv --only sweep

# All parts, in the table and in the JSON.
expect 0 'sweeps per s' "$ztp" bench --quick --threads 2 --json bench.json
for part in gamma allocate sweep rank threads scaling score bandwidth; do
  grep -q "^$part: " out.txt || { echo "FAILED: no table of $part"; failed=1; }
  grep -q "^    \"$part\": {" bench.json || { echo "FAILED: no part $part in the JSON"; failed=1; }
done
for key in version cpu simd compiler threads ns_per_one ns_per_draw ns_per_gamma_draw times_faster sweeps_per_s \
  times_limit \
  times_the_copy_limit of_copy MB_held times_one_thread GB_per_s 'million_cell-draws_per_s'; do
  grep -q "\"$key\":" bench.json || { echo "FAILED: no $key in the JSON"; failed=1; }
done
# Figures are positive; at least five repeats of everything that is timed. Memory is counted, not timed.
awk -F'[:,]' '
  /"(median|min|max)":/ { ++figures; if (!($2 > 0)) { print "FAILED: not positive: " $0; bad = 1 } }
  /"repeats":/ && $2 > 1 { ++timed; if ($2 < 5) { print "FAILED: few repeats: " $0; bad = 1 } }
  END {
    if (figures < 150 || timed < 50) { print "FAILED: only " figures " numbers, " timed " timed"; bad = 1 }
    exit bad
  }
' bench.json || failed=1

# A tensor of one's own, one part.
"$ztp" simulate --dims 100,90,20 --ones 2000 --rank 3 --out sim >/dev/null
expect 0 'tensor.tsv  20  ' "$ztp" bench --quick --tensor sim/tensor.tsv --only sweep --threads 1 --json own.json
grep -q '"gamma"' own.json && { echo "FAILED: --only ran another part"; failed=1; }
finish
