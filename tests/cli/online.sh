#!/bin/sh
# Online fits of a tensor file that stays on disk: all commands know such a run, an interrupted one ends as one that was
# not, and a damaged block is named.
. "$2/tests/cli/common.sh.inc"

"$ztp" simulate --dims 20000,20000,50 --ones 500000 --rank 8 --seed 1 --no-truth --out small >/dev/null
"$ztp" convert small/tensor.tsv small.ztpt --labels small/labels >/dev/null

# ---- commands --------------------------------------------------------------------------------------------------------
online="--chains 1 --method online --rank 8 --sweeps 60 --minibatch 20000 --threads 2"
expect 0 'held-out AUC-ROC' "$ztp" fit small.ztpt $online --holdout 0.02 --out whole
expect 0 'AUC-ROC' "$ztp" evaluate whole
expect 0 'component 1' "$ztp" components whole
expect 0 'mode2' "$ztp" recommend whole mode1=1 mode3=2 --top 3
expect 0 'log-likelihood' "$ztp" diagnose whole
expect 0 'small.ztpt' "$ztp" info whole
expect 0 'probability' "$ztp" predict whole whole/test.tsv
grep -q 'whole: an online fit approximates the posterior, and its intervals are too narrow' out.txt ||
  { echo "FAILED: predict does not say that the intervals are too narrow"; failed=1; }
"$ztp" predict whole whole/test.tsv >whole.predictions

# ---- interrupted and resumed -----------------------------------------------------------------------------------------
"$ztp" fit small.ztpt $online --holdout 0.02 --out stopped >log.txt 2>&1 &
interrupt $! stopped 10
expect 0 'status       interrupted' "$ztp" info stopped
expect 0 'held-out AUC-ROC' "$ztp" resume stopped
"$ztp" predict stopped stopped/test.tsv >stopped.predictions
cmp whole.predictions stopped.predictions || failed=1
for run in whole stopped; do cut -f1,2,4- $run/trace.tsv >$run.trace; done
cmp whole.trace stopped.trace || failed=1

# ---- a damaged block -------------------------------------------------------------------------------------------------
# Late among the ones, which are 12 bytes each and come first. Nothing is held out: with --holdout all of the file is
# read before the fit.
expect 0 'draws' "$ztp" fit small.ztpt $online --out intact
cp small.ztpt bad.ztpt
printf '\377\377\377\377' | dd of=bad.ztpt bs=1 seek=5700000 conv=notrunc 2>/dev/null
expect 3 'bad.ztpt: block 8 (of 8) is damaged' "$ztp" fit bad.ztpt $online --out bad
[ ! -e bad/draws.nc ] || { echo "FAILED: draws from a damaged file"; failed=1; }
expect 3 'no draws yet' "$ztp" predict bad whole/test.tsv
expect 3 'block 8 (of 8) is damaged' "$ztp" fit bad.ztpt $online --holdout 0.1 --out bad2
[ ! -e bad2 ] || { echo "FAILED: a run directory although the data could not be read"; failed=1; }
cp small.ztpt bad.ztpt  # put right, it goes on
expect 0 'draws' "$ztp" resume bad
for run in intact bad; do "$ztp" predict $run whole/test.tsv >$run.predictions; done
cmp intact.predictions bad.predictions || failed=1

finish
