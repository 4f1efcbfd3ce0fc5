#!/bin/sh
# Ranks that are killed and a write that fails, as experiments/kill_ranks.py does by the hundred; what a kill in the
# middle of a write leaves in the files of several groups of ranks; and a kill and a failing write while the first rank
# sorts the ones on disk.
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

# The input stops in the middle. The process that reads it is killed when it has a temporary file.
mkdir folder
mkfifo endless
fit="--sampler plain --threads 1 --rank 4 --chains 2 --sweeps 4 --draws 2"
(awk 'BEGIN { for (i = 0; i < 1000000; ++i) print i % 1000 "\t" i % 777 "\t" i % 5 }' && exec sleep 60) >endless &
input=$!
mpirun -n 2 "$ztp" fit endless $fit --out folder/run >out.txt 2>&1 &
pid=$!
tries=0 reader=""
while [ -z "$reader" ] && kill -0 $pid 2>/dev/null && [ "$tries" -lt 3000 ]; do
  tries=$((tries + 1))
  for rank in $(pgrep -P $pid || true); do
    ! ls -l "/proc/$rank/fd" 2>/dev/null | grep -qF "$work/folder" || reader=$rank
  done
  sleep 0.01
done
[ -n "$reader" ] || { echo "FAILED: no temporary file while the input is read"; cat out.txt; failed=1; reader=$pid; }
kill -KILL "$reader"
code=0
wait $pid || code=$?
[ "$code" -eq 137 ] || { echo "FAILED: exit code $code after a kill while reading"; cat out.txt; failed=1; }
kill $input 2>/dev/null || true
expect 6 "cannot write a temporary file in $work/folder: File too large" mpirun -n 1 \
  sh -c 'ulimit -f 20; "$@"' - "$ztp" fit made/tensor.tsv $fit --out folder/run : -n 1 "$ztp" fit made/tensor.tsv $fit --out folder/run
[ -z "$(ls -A folder)" ] || { echo "FAILED: left behind:"; ls -A folder; failed=1; }
finish
