#!/bin/sh
# Ranks that are killed and a write that fails, as experiments/kill_ranks.py does by the hundred; and what a
# kill in the middle of a write leaves in the files of several groups of ranks.
. "$2/tests/cli/common.sh.inc"
several_processes

expect 0 '0 trials went wrong' python3 "$source_dir/experiments/kill_ranks.py" --program "$ztp" --ranks 3 \
  --kinds shared,groups --kills 2 --disks 1 --stops 0

# Two groups of ranks record two chains each. Their first process is killed when each chain has a checkpoint.
"$ztp" simulate --dims 300,200,5 --ones 3000 --rank 4 --seed 5 --out made >/dev/null
fit="fit made/tensor.tsv --sampler plain --threads 1 --rank 12 --holdout 0.1 --chains 2 --burn-in 10 --checkpoint 20"
"$ztp" $fit --sweeps 1500 --draws 50 --out whole >/dev/null 2>&1 &
whole=$!
mpirun -n 2 "$ztp" $fit --sweeps 1500 --draws 50 --out torn >out.txt 2>&1 &
pid=$!
tries=0
while [ ! -e torn/checkpoint-1-b.bin ] || [ ! -e torn/checkpoint-2-b.bin ]; do
  kill -0 $pid 2>/dev/null && [ "$tries" -lt 3000 ] || break
  tries=$((tries + 1))
  sleep 0.01
done
rank=$(pgrep -P $pid | head -n 1)
kill -KILL "$rank"
code=0
wait $pid || code=$?
[ "$code" -eq 137 ] || { echo "FAILED: exit code $code after a kill"; cat out.txt; failed=1; }
# Half a row and half a draw, at the end of all files.
for file in torn/trace.tsv torn/trace-2.tsv torn/cells.tsv torn/cells-2.tsv; do
  tail -n 1 $file | head -c 5 >half
  cat half >>$file
done
for file in torn/draws.log torn/draws-2.log; do
  head -c 333 torn/data.bin >>$file
done
expect 0 'draws' mpirun -n 3 "$ztp" resume torn
wait $whole
for file in draws.nc means.nc cells.tsv test.tsv; do cmp whole/$file torn/$file || failed=1; done
[ -z "$(ls torn | grep -e '-2\.' -e '\.partial' -e draws.log | grep -v chain-2.bin)" ] || { ls torn; failed=1; }
finish
