#!/bin/sh
# ztp report, from the outside; what is in it and how it behaves is for tests/report and tests/browser. What it refuses:
# tests/bad_inputs.
. "$2/tests/cli/common.sh.inc"

"$ztp" simulate --dims 300,250,12 --ones 4000 --rank 4 --seed 3 --mode-names user,item,week --edges user=500 --out sim \
  >/dev/null
fit() { "$ztp" fit sim/tensor.tsv --labels sim/labels --network user=sim/network-user.tsv --rank 6 --sweeps 60 \
  --holdout 0.1 "$@" >/dev/null 2>&1; }
fit --chains 2 --out run
fit --seed 2 --out other
find run -type f -exec cksum {} + | sort >before.txt

expect 0 'report.html (' "$ztp" report run
head -n 2 report.html | grep -q 'a report of ztp' || { echo "FAILED: the beginning of the file"; failed=1; }
[ "$(wc -c <report.html)" -lt 1000000 ] ||
  { echo "FAILED: a report of a small run has $(wc -c <report.html) bytes"; failed=1; }
find run -type f -exec cksum {} + | sort | cmp - before.txt ||
  { echo "FAILED: the run directory was changed"; failed=1; }

# The same bytes for any number of threads.
expect 0 'one.html' "$ztp" report run -o one.html --threads 1
cmp report.html one.html || { echo "FAILED: threads"; failed=1; }

# A report may be replaced, another file only on demand, and nothing is left of a try that failed.
expect 0 'report.html' "$ztp" report other -o report.html
cmp -s report.html one.html && { echo "FAILED: the reports of two runs are the same"; failed=1; }
echo mine >mine.html
expect 2 'not a report of ztp' "$ztp" report run -o mine.html
[ "$(cat mine.html)" = mine ] || { echo "FAILED: a file was replaced"; failed=1; }
expect 0 'mine.html' "$ztp" report run -o mine.html --force
expect 3 'unknown user "nobody"' sh \
  -c "printf 'nobody\t1\t1\t1\n' >bad.tsv; '$ztp' report run --test bad.tsv -o never.html"
ls | grep -q never && { echo "FAILED: a failed report left something"; failed=1; }

# What is left out is told.
expect 0 'note: ' "$ztp" report run --entities 60 -o few.html
[ "$(wc -c <few.html)" -lt "$(wc -c <one.html)" ] || { echo "FAILED: fewer entities, and no smaller"; failed=1; }

expect 0 'both.html' "$ztp" report --compare run other -o both.html
head -n 2 both.html | grep -q 'a report of ztp' || { echo "FAILED: the beginning of a comparison"; failed=1; }

# Everything that can be fitted has a report.
expect 0 'logistic.html' sh \
  -c "'$ztp' fit sim/tensor.tsv --model logistic --zeros 3 --rank 2 --sweeps 20 --out logistic \
    >/dev/null 2>&1; '$ztp' report logistic -o logistic.html"
expect 0 'quad.html' sh \
  -c "'$ztp' fit sim/tensor.tsv --model quad --rank 2 --sweeps 20 --out quad \
    >/dev/null 2>&1; '$ztp' report quad -o quad.html"
"$ztp" convert sim/tensor.tsv sim/ones.ztpt >/dev/null 2>&1
expect 0 'online.html' sh \
  -c "'$ztp' fit sim/ones.ztpt --method online --rank 4 --sweeps 40 --out online \
    >/dev/null 2>&1; '$ztp' report online -o online.html"
head -n 40 sim/tensor.tsv >news.tsv
expect 0 'updated.html' sh -c "'$ztp' update online news.tsv \
    >/dev/null 2>&1; '$ztp' report online -o updated.html"
finish
