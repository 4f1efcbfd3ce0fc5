#!/bin/sh
# Memory, reading and simulating (docs/results.md, docs/performance.md), and accuracy and speed of single fits
# (docs/tables). Needs the data sets under $ZTP_DATA (docs/data.md).
#   experiments/spine.sh [kinship] [umls] [scholars] [cold-start] [memory] [speed] [read] [simulate]     default: all
# Prints one line a run, TAB-separated. Work files go to a temporary directory.
set -eu
. "$(dirname "$0")/common.sh.inc"

seconds_per_sweep() { "$ztp" info "$1" --json |
  awk -F'[:,]' '/"seconds":/ {s=$2} /"sweeps":/ && ++n == 2 {w=$2} END {print s / w}'; }

# cells NAME RANK SWEEPS: a random tenth of all cells held out, five splits
cells() {
  name=$1 rank=$2 sweeps=$3
  for split in 1 2 3 4 5; do
    "$ztp" split "$data/$name/tensor.tsv.gz" --protocol cells --holdout 0.1 --seed $split --out "$work/$name-$split" \
      >/dev/null
    ztp_fit "$work/$name-$split/train.tsv" --labels "$work/$name-$split/labels" \
      --test "$work/$name-$split/test.tsv" \
      --holdout-as zero --rank "$rank" --dirichlet 0.05 --sweeps "$sweeps" --seed $split \
      --out "$work/run-$name-$split" >/dev/null 2>&1
    printf '%s\tsplit %s\tR %s\tAUC-ROC %.4f\tAUC-PR %.4f\tlog-loss %.4f\n' "$name" "$split" "$rank" \
      "$(metric "$work/run-$name-$split" auc_roc)" "$(metric "$work/run-$name-$split" auc_pr)" \
      "$(metric "$work/run-$name-$split" log_loss)"
  done | tee "$work/rows"
  awk -F'\t' -v name="$name" '{split($4, a, " "); s += a[2]; q += a[2]^2}
    END {m = s / NR; sd = sqrt((q / NR - m^2) * NR / (NR - 1))
      printf "%s\tmean\t%d splits\tAUC-ROC %.4f (sd %.4f)\n", name, NR, m, sd}' "$work/rows"
}

kinship() { cells kinship 100 1000; }
umls() { cells umls 50 1000; }

scholars() {
  for split in 1 2 3; do
    ztp_fit "$data/scholars/tensor.tsv.gz" --labels "venue=$data/scholars/venue-labels.tsv" --rank 100 --sweeps 100 \
      --holdout 0.1 --holdout-as zero --seed $split --out "$work/run-scholars-$split" >/dev/null 2>&1
    printf 'scholars\tsplit %s\tR 100\tAUC-ROC %.4f\tAUC-PR %.4f\t%.3f s a sweep\n' $split \
      "$(metric "$work/run-scholars-$split" auc_roc)" "$(metric "$work/run-scholars-$split" auc_pr)" \
      "$(seconds_per_sweep "$work/run-scholars-$split")"
  done
}

cold_start() {
  "$ztp" split "$data/scholars/tensor.tsv.gz" --labels "author=$data/scholars/author-labels.tsv" --protocol slices \
    --mode author --after 1000 --zeros-per-one 5 --seed 1 --out "$work/cold" >/dev/null
  gzip -dc "$data/scholars/network-author.tsv.gz" >"$work/network.tsv"
  for seed in 1 2 3; do
    for network in without with; do
      set --
      [ $network = without ] || set -- --network "author=$work/network.tsv"
      run=$work/run-cold-$network-$seed
      ztp_fit "$work/cold/train.tsv" --labels "$work/cold/labels" --test "$work/cold/test.tsv" "$@" --rank 40 \
        --holdout-as zero --sweeps 60 --seed $seed --out "$run" >/dev/null 2>&1
      printf 'scholars cold start\tseed %s\t%s network\tAUC-ROC %.4f\tAUC-PR %.4f\n' $seed $network \
        "$(metric "$run" auc_roc)" "$(metric "$run" auc_pr)"
    done
  done
}

# What `ztp check` announces beside what a fit takes.
one_memory() {
  name=$1 rank=$2
  shift 2
  announced=$("$ztp" check "$@" --rank "$rank" --chains 1 --json | field memory_bytes)
  ztp_fit "$@" --rank "$rank" --sweeps 4 --keep-every 1 --out "$work/memory" --force >/dev/null 2>&1
  taken=$("$ztp" info "$work/memory" --json | field peak_memory_bytes)
  awk -v n="$name" -v r="$rank" -v a="$announced" -v t="$taken" \
    'BEGIN {printf "memory\t%s\tR %d\tannounced %.1f MiB\ttaken %.1f MiB\tratio %.3f\n",
      n, r, a / 2^20, t / 2^20, t / a}'
}
memory() {
  one_memory kinship 20 "$data/kinship/tensor.tsv.gz"
  one_memory umls 200 "$data/umls/tensor.tsv.gz"
  one_memory movielens 50 "$data/movielens-100k/tensor.tsv.gz"
  one_memory dblp-10k 50 "$data/dblp-10k/tensor.tsv.gz"
  one_memory scholars 20 "$data/scholars/tensor.tsv.gz"
  one_memory scholars 100 "$data/scholars/tensor.tsv.gz"
  "$ztp" simulate --dims 63731,63730,1837 --ones 737498 --rank 50 --seed 1 --no-truth --out "$work/facebook" >/dev/null
  one_memory facebook-shape 100 "$work/facebook/tensor.tsv"
  "$ztp" simulate --dims 1000000,1000000,100 --ones 20000000 --rank 20 --seed 1 --no-truth --out "$work/large" \
    >/dev/null
  one_memory 'simulated, 20 million ones' 10 "$work/large/tensor.tsv"
}

# Seconds a sweep: five runs of 10 sweeps, the median.
speed() {
  "$ztp" simulate --dims 63731,63730,1837 --ones 737498 --rank 50 --seed 1 --no-truth --out "$work/face" >/dev/null
  for pair in "scholars $data/scholars/tensor.tsv.gz" "facebook-shape $work/face/tensor.tsv"; do
    name=${pair%% *} file=${pair#* }
    for rank in 20 100; do
      for threads in 1 2; do
        for repeat in 1 2 3 4 5; do
          ztp_fit "$file" --rank $rank --sweeps 10 --threads $threads --keep-every 5 --out "$work/speed" --force \
            >/dev/null 2>&1
          seconds_per_sweep "$work/speed"
        done | sort -g | awk -v n="$name" -v r=$rank -v t=$threads \
          '{x[NR] = $1}
          END {printf "speed\t%s\tR %d\t%d threads\tmedian %.3f s a sweep\t(%.3f to %.3f)\n",
            n, r, t, x[3], x[1], x[5]}'
      done
    done
  done
}

# Lines a second on one core, reading and sorting included.
read_speed() {
  "$ztp" simulate --dims 100000,100000,1000 --ones 10000000 --rank 20 --seed 1 --no-truth --out "$work/read" >/dev/null
  awk '!/^#/ {print $1, $2, $3, 1}' "$work/read/tensor.tsv" >"$work/read.tns"
  shuf --random-source="$work/read.tns" "$work/read.tns" -o "$work/read.tns"
  cmake --build "$here/build/release" --target bench_read >/dev/null
  for file in "$work/read.tns" "$work/read/tensor.tsv"; do
    for repeat in 1 2 3 4 5; do printf '%s\t' "${file##*.}" &&
      taskset -c 0 "$here/build/release/bench_read" "$file"; done
  done
}

simulate() {
  for dims in 100000,100000,1000 10000000,10000000,1000; do
    begin=$(date +%s.%N)
    taskset -c 0 "$ztp" simulate --dims $dims --ones 20000000 --rank 20 --seed 1 --out "$work/sim" --force >/dev/null
    end=$(date +%s.%N)
    awk -v d=$dims -v s="$begin" -v e="$end" \
      'BEGIN {printf "simulate\t%s\t20000000 ones in %.1f s\t%.2f million a second\n", d, e - s, 20 / (e - s)}'
  done
}

[ $# -gt 0 ] || set -- kinship umls scholars cold-start memory speed read simulate
for what; do
  case $what in
    cold-start) cold_start ;;
    read) read_speed ;;
    kinship | umls | scholars | memory | speed | simulate) $what ;;
    *) echo "unknown experiment $what" >&2; exit 2 ;;
  esac
done
