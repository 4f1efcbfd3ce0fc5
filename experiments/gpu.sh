#!/bin/sh
# What a GPU brings to the answers of a run and to online fits from a file. On a machine with a GPU and little else:
#   experiments/gpu.sh BUNDLE [DATA]    BUNDLE: a folder made by scripts/cuda_bundle.sh. DATA: a directory of data sets.
#                                       GPU_ONES (20000000): ones of the file. About a minute and a half.
# 1. FB15k-237 (with DATA): rankings of the test triples, CP with R = 200 and shared columns with P = 1,600, R = 40,000:
#    seconds of a draw on the GPU and with two threads of the CPU, and the MRR of both. The runs are of a few sweeps:
#    their time is that of any others, their accuracy is not.
# 2. Online from a tensor file in the page cache, R = 20: ones a second, and the time of a step of few ones.
# 3. ztp bench --only cuda: cells and candidates a second, and sweeps.
# Needs python3. Prints one line a figure.
set -eu
bundle=$(cd "${1:?BUNDLE}" && pwd)
data=${2:-}
ones=${GPU_ONES:-20000000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ztp() { "$bundle/run" ztp "$@"; }
now() { date +%s.%N; }
# timed COMMAND...: its seconds in $seconds, its output in $work/out
timed() {
  begin=$(now)
  "$@" >"$work/out" 2>"$work/err" || { cat "$work/err" >&2; return 1; }
  seconds=$(echo "$begin $(now)" | awk '{print $2 - $1}')
}
mrr() { sed 's/,"popularity".*//; s/.*"all"://; s/.*"mrr":\([0-9.]*\).*/\1/' "$work/out"; }

split_fb() {
  python3 - "$data/fb15k-237" "$work" <<'END'
import gzip, sys
folder, work = sys.argv[1:]
read = lambda name: gzip.open(f"{folder}/{name}", "rt", encoding="utf-8").read().splitlines()
triples = read("tensor.tsv.gz")
test, valid = read("split-test.tsv.gz"), read("split-valid.tsv.gz")
held = set(test) | set(valid)
write = lambda name, lines: open(f"{work}/{name}", "w", encoding="utf-8").write("\n".join(lines) + "\n")
write("train.tsv", triples[:1] + [t for t in triples[1:] if t not in held])
write("test.tsv", test)
write("valid.tsv", valid)
import os
os.mkdir(f"{work}/labels")
fields = [t.split("\t") for t in triples[1:]]
entities = sorted({f[0] for f in fields} | {f[1] for f in fields})
for name in ("entity_i", "entity_j"):
    write(f"labels/{name}.txt", entities)
write("labels/relation.txt", sorted({f[2] for f in fields}))
END
}

# rank NAME RUN DRAWS: seconds of a draw: all of the command, less what it takes with one draw
rank() {
  for kernel in cuda cpu; do
    threads=2
    [ $kernel = cpu ] || threads=0
    most=$3
    [ $kernel = cuda ] || most=2
    for draws in 1 "$most"; do
      timed ztp evaluate "$2" "$work/test.tsv" --ranking entity_i,entity_j --filter "$work/valid.tsv" \
        --draws "$draws" --kernel $kernel --json $([ $threads = 0 ] || echo --threads $threads)
      eval "seconds_$draws=\$seconds"
      eval "mrr_${kernel}_$draws=\$(mrr)"
    done
    eval "more=\$seconds_$most"
    # shellcheck disable=SC2154
    echo "$seconds_1 $more $most" | awk -v name="$1" -v kernel=$kernel -v threads=$threads '{
      printf "ranking, %s, %s%s: %.3f s a draw, %.2f s with one draw\n", name, kernel,
        threads ? " (" threads " threads)" : "", ($2 - $1) / ($3 - 1), $1}'
  done
  # shellcheck disable=SC2154
  echo "ranking, $1: MRR of one draw $mrr_cuda_1 (cuda), $mrr_cpu_1 (cpu)"
}

if [ -n "$data" ] && [ -e "$data/fb15k-237/tensor.tsv.gz" ]; then
  split_fb
  common="--labels $work/labels --kernel cuda --sampler plain --chains 1 --seed 1"
  timed ztp fit "$work/train.tsv" $common --rank 200 --sweeps 44 --burn-in 4 --draws 40 --out "$work/cp"
  echo "fit of FB15k-237, R = 200, 44 sweeps: $seconds s"
  rank "CP, R = 200" "$work/cp" 20
  timed ztp fit "$work/train.tsv" $common --tie entity_i=entity_j --columns 1600 --rank 40000 --sweeps 3 --burn-in 1 \
    --draws 2 --out "$work/shared"
  echo "fit of FB15k-237, P = 1,600, R = 40,000, 3 sweeps: $seconds s"
  rank "P = 1,600, R = 40,000" "$work/shared" 2
fi

timed ztp simulate --dims 1000000,1000000,1000 --ones "$ones" --rank 20 --no-truth --out "$work/sim"
timed ztp convert "$work/sim/tensor.tsv" "$work/sim.ztpt" --labels "$work/sim/labels"
rm -r "$work/sim"
# online MINIBATCH SWEEPS: seconds of a step, from the second half of the trace
online() {
  ztp fit "$work/sim.ztpt" --method online --kernel cuda --chains 1 --rank 20 --minibatch "$1" --sweeps "$2" \
    --draws 2 --seed 1 --out "$work/online" --force >"$work/out" 2>"$work/err" || { cat "$work/err" >&2; return 1; }
  awk -F'\t' 'NR > 1 {step[NR] = $2; at[NR] = $3} END {
    half = int(NR / 2); print (at[NR] - at[half]) / (step[NR] - step[half])}' "$work/online/trace.tsv"
}
large=$((ones / 4))
step=$(online $large 40)
small=$(online 1000 200)
echo "$large $step $small" | awk '{
  printf "online from a file, R = 20, minibatches of %d: %.1f ms a step, %.0f million ones a second\n", $1, 1e3 * $2,
    $1 / $2 / 1e6
  printf "a step of 1,000 ones: %.2f ms\n", 1e3 * $3
  printf "without what every step costs: %.0f million ones a second\n", $1 / ($2 - $3) / 1e6}'

"$bundle/run" ztp-bench --only cuda --quick
