#!/bin/sh
# The paper's rivals as models of a fit: the same run directory, predict, evaluate and resume. What a model does not
# use: tests/bad_inputs.
. "$2/tests/cli/common.sh.inc"

"$ztp" simulate --dims 40,30,20 --ones 3000 --rank 3 --seed 2 --out sim >/dev/null
"$ztp" split sim/tensor.tsv --protocol cells --holdout 0.1 --seed 1 --out parts >/dev/null
split="parts/train.tsv --labels parts/labels --test parts/test.tsv --holdout-as missing --rank 5 --threads 2"

# Held-out cells of planted data are told apart, and predict agrees with evaluate.
for model in logistic quad pwquad; do
  expect 0 'held-out AUC-ROC' "$ztp" fit $split --model $model --sweeps 120 --out $model
  "$ztp" evaluate $model --json | sed 's/,"popularity".*//' >metrics.txt
  auc=$(sed 's/.*"auc_roc":\([0-9.]*\).*/\1/' metrics.txt)
  awk "BEGIN { exit !($auc > 0.8) }" || { echo "FAILED: AUC-ROC $auc of $model"; failed=1; }
  "$ztp" predict $model parts/test.tsv | grep -v '^#' | cut -f4 >probabilities.txt
  grep -v '^#' parts/test.tsv | cut -f4 | paste - probabilities.txt >both.txt
  # The Brier score, worked out from what predict says.
  awk -v said="$(sed 's/.*"brier":\([0-9.e-]*\).*/\1/' metrics.txt)" \
    '{s += ($1 - $2)^2} END {d = s / NR - said; exit !(d * d < 1e-12)}' both.txt ||
    { echo "FAILED: predict and evaluate of $model disagree"; failed=1; }
  expect 0 "model        $model, rank" "$ztp" info $model
done
expect 0 'zeros        all' "$ztp" info logistic
expect 0 '"r_hat"' "$ztp" diagnose logistic --json
expect 0 'iterations   120 of 120' "$ztp" info quad

# No zeros at all, and modes with the names of variables.
printf '#tau\tintercept\n1\t1\n1\t2\n2\t1\n2\t2\n' >ones.tsv
for model in logistic quad pwquad; do
  expect 0 'components in ones' "$ztp" fit ones.tsv --model $model --rank 2 --sweeps 20 --out ones-$model
  expect 0 '2	2	' "$ztp" predict ones-$model ones.tsv
done

# A sample of the zeros: it says so, and probabilities still add up.
expect 0 'random zeros, one in' "$ztp" fit $split --model logistic --zeros 3 --sweeps 120 --out sampled
"$ztp" predict sampled parts/test.tsv | grep -v '^#' | cut -f4 |
  awk -v ones="$(grep -c '	1$' parts/test.tsv)" '{s += $1} END {exit !(s > 0.8 * ones && s < 1.25 * ones)}' ||
  { echo "FAILED: with a sample of zeros, probabilities do not add up to the ones"; failed=1; }

# Interrupted and resumed: the same numbers.
for model in logistic pwquad; do
  "$ztp" fit $split --model $model --sweeps 120 --out stopped-$model >log.txt 2>&1 &
  interrupt $! stopped-$model 20
  expect 0 'held-out AUC-ROC' "$ztp" resume stopped-$model
  for run in $model stopped-$model; do "$ztp" predict $run parts/test.tsv >$run.txt; done
  cmp $model.txt stopped-$model.txt || failed=1
done
finish
