#!/bin/sh
# Of several processes, the first one reads and sorts the ones in an amount of memory that does not grow with them. (Not
# with sanitizers, which need memory of their own.)
. "$2/tests/cli/common.sh.inc"
several_processes

# make ONES NAME: the same entities whatever the ones.
make() {
  "$ztp" simulate --dims 20000,20000,500 --ones "$1" --rank 8 --seed 1 --no-truth --out "$2" >/dev/null
  "$ztp" convert "$2/tensor.tsv" "$2.ztpt" --labels "$2/labels" >/dev/null
}
# memory_of PID: what the process cannot do without, in kB.
memory_of() {
  awk '/^Rss(Anon|Shmem):/ { sum += $2 } END { print sum + 0 }' "/proc/$1/status" 2>/dev/null || echo 0
}
# reading_peak DATA: the most that a process of the job needs until the run directory is there, in kB.
reading_peak() {
  rm -rf run
  mpirun -n 2 "$ztp" fit "$1" --rank 2 --chains 2 --sampler plain --sweeps 1 --draws 2 --threads 1 --memory 192M \
    --holdout 0.01 --zeros-per-one 1 --out run >log.txt 2>&1 &
  job=$!
  peak=0
  while kill -0 "$job" 2>/dev/null && [ ! -d run ]; do
    for pid in $(cat "/proc/$job/task/$job/children" 2>/dev/null); do
      now=$(memory_of "$pid")
      [ ! -d run ] || break
      [ "$now" -le "$peak" ] || peak=$now
    done
  done
  wait "$job" || { sed 's/^/    /' log.txt >&2; peak=0; }
  echo "$peak"
}

# 3.5 million more ones are 42 MB of coordinates, and sorting them may take 24 MiB of memory (an eighth of --memory).
make 500000 small
make 4000000 large
for data in .ztpt /tensor.tsv; do
  small=$(reading_peak "small$data") large=$(reading_peak "large$data")
  [ "$small" -gt 0 ] && [ "$large" -gt 0 ] && [ $((large - small)) -lt 26000 ] ||
    { echo "FAILED: $data: from $small to $large kB"; failed=1; }
done
finish
