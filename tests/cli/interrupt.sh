#!/bin/sh
# Ctrl-C finishes the sweep, writes the run and names the command that goes on; the end is as without it.
. "$2/tests/cli/common.sh.inc"

"$ztp" simulate --dims 200,200,50 --ones 20000 --rank 5 --seed 1 --out sim >/dev/null
"$ztp" fit sim/tensor.tsv --rank 20 --sweeps 300 --holdout 0.1 --out whole >/dev/null 2>&1
for signal in INT TERM; do
  "$ztp" fit sim/tensor.tsv --rank 20 --sweeps 300 --holdout 0.1 --out "$signal" >log.txt 2>&1 &
  pid=$!
  while [ "$(wc -l 2>/dev/null <"$signal/trace.tsv" || echo 0)" -lt 20 ]; do sleep 0.02; done
  kill -$signal $pid
  code=0
  wait $pid || code=$?
  [ "$code" -eq "$([ $signal = INT ] && echo 130 || echo 143)" ] || { echo "FAILED: exit code $code after SIG$signal"; failed=1; }
  grep -q "ztp resume $signal" log.txt || { echo "FAILED: does not name the command that goes on"; failed=1; }
  expect 0 'status       interrupted' "$ztp" info "$signal"
  expect 0 'held-out AUC-ROC' "$ztp" resume "$signal"
  for run in whole $signal; do
    "$ztp" predict $run $run/test.tsv >$run.predictions
    cut -f1,2,4- $run/trace.tsv >$run.trace
  done
  cmp whole.predictions $signal.predictions || failed=1
  cmp whole.trace $signal.trace || failed=1
done
finish
