#!/bin/sh
# Online fits of a tensor file take memory for its entities, not for its ones. (Not with sanitizers, which need memory
# of their own.)
. "$2/tests/cli/common.sh.inc"

# make ONES NAME: the same entities whatever the ones.
make() {
  "$ztp" simulate --dims 20000,20000,50 --ones "$1" --rank 8 --seed 1 --no-truth --out "$2" >/dev/null
  "$ztp" convert "$2/tensor.tsv" "$2.ztpt" --labels "$2/labels" >/dev/null
}
peak() {
  "$ztp" info "$1" --json | sed -n 's/.*"peak_memory_bytes": *\([0-9]*\).*/\1/p'
}
# fit_peak DATA MINIBATCH: the peak of a short fit, in bytes.
fit_peak() {
  "$ztp" fit "$1" --method online --rank 8 --chains 1 --sweeps 6 --draws 2 --minibatch "$2" --threads 2 \
    --out short --force \
    >log.txt 2>&1 ||
    { sed 's/^/    /' log.txt >&2; echo 0; return; }
  peak short
}
# at_most SMALL LARGE MIB WHAT
at_most() {
  awk -v a="$1" -v b="$2" -v m="$3" 'BEGIN { exit !(a > 0 && b > 0 && b - a < m * 1048576) }' ||
    { echo "FAILED: $4: from $1 to $2 bytes, more than $3 MiB"; failed=1; }
}

# 1.5 million more ones are 18 MB of coordinates; 4 MiB is what the allocator's rounding and pages of the program come
# to. A fit of the text file, which holds them all, does pass the limit: the test would see it if the ones were kept.
make 500000 small
make 2000000 large
at_most "$(fit_peak small.ztpt 50000)" "$(fit_peak large.ztpt 50000)" 4 "four times the ones on disk"
in_memory=$(fit_peak small/tensor.tsv 50000)
awk -v a="$in_memory" -v b="$(fit_peak large/tensor.tsv 50000)" 'BEGIN { exit !(a > 0 && b - a > 16e6) }' ||
  { echo "FAILED: ones in memory do not show; the test would see nothing"; failed=1; }
rm -r large large.ztpt
# A minibatch of 5 million ones comes in chunks of 2^21: 24 MiB of coordinates in each of two, and 8 MiB for the
# components of one: 56 MiB. Measured are 57 to 60, as each of the two peaks varies by 1 MiB; 8 MiB are allowed for
# rounding. All in one piece, and the next one coming, it would be 133 MiB.
make 5000000 huge
at_most "$(fit_peak huge.ztpt 50000)" "$(fit_peak huge.ztpt 5000000)" 64 "minibatches of several chunks"
finish
