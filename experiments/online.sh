#!/bin/sh
# Online against batch: accuracy by time, new data, and size. The figures of docs/online.md; `auc` and `update` need the
# data sets under $ZTP_DATA.
#   experiments/online.sh [auc] [choices] [update] [scale]     default: all
#   auc    SEEDS ("1"): splits and chains to repeat, "1 2 3" for three; OUT (build/online-auc.tsv): the table of all
#          fits; QUICK=1: Kinship and UMLS, three fits a method, to build/online-auc-quick.tsv. About eight minutes a
#          seed. The picture, from that table:
#          experiments/plot_online.py build/online-auc.tsv docs/images/online-auc.svg
#   choices: what is drawn and what is averaged, online; a few minutes.
#   update: about ten minutes. Of both, SETS ("kinship umls movielens-100k scholars dblp-10k"): some of the data sets.
#   scale  ONES (200000000), DIMS (10000000,10000000,1000), RANK (20), ONES2 (twice ONES). 14 GB of memory, 20 GB of
#          disk, GNU time.
# Held-out cells are zeros to the fits (--holdout-as zero), as in the paper.
# Prints one line a step, TAB-separated, and a summary; progress of `auc` goes to standard error. Work files go to a
# temporary directory.
set -eu
. "$(dirname "$0")/common.sh.inc"
trap 'exit 130' INT TERM

info() { "$ztp" info "$1" --json | field "$2"; }
fit() { ztp_fit "$@" >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }; }

# series NAME SEED BATCH ONLINE FILE [OPTION...]: an independent fit for each number of sweeps in the lists BATCH and
# ONLINE, each with the default burn-in: a point is what they get who stop there.
series() {
  name=$1 seed=$2 batch=$3 online=$4
  shift 4
  for method in batch online; do
    if [ $method = batch ]; then list=$batch; else list=$online; fi
    # Half of the default, a twentieth: sooner there.
    [ $method = batch ] || [ "$name" != scholars ] || set -- "$@" --minibatch 63000
    for sweeps in $list; do
      fit "$@" --holdout-as zero --method $method --sweeps "$sweeps" --seed "$seed" --out "$work/run"
      scores "$work/run" >"$work/metrics"
      printf '%s\t%s\t%s\t%.6f\t%.6f\t%.6f\t%s\n' "$name" $method "$sweeps" "$(info "$work/run" seconds)" \
        "$(field auc_roc <"$work/metrics")" "$(field log_loss <"$work/metrics")" "$seed" | tee -a "$out" >&2
      rm -rf "$work/run"
    done
  done
}

# split_series NAME SEED PROTOCOL BATCH ONLINE [OPTION...]: the same on a split of its own, with the same seed: a tenth
# of the cells, or of the ones with five drawn zeros for each.
split_series() {
  name=$1 seed=$2 protocol=$3 batch=$4 online=$5 split=$work/$1-$2
  shift 5
  "$ztp" split "$data/$name/tensor.tsv.gz" --protocol "$protocol" --holdout 0.1 --seed "$seed" --out "$split" >/dev/null
  series "$name" "$seed" "$batch" "$online" "$split/train.tsv" --labels "$split/labels" --test "$split/test.tsv" "$@"
  rm -rf "$split"
}

wanted() { case " ${SETS:-$1} " in *" $1 "*) ;; *) return 1 ;; esac; }

# Held-out AUC against seconds of sampling. The longest online fits take between one and two times the seconds of the
# longest batch fit.
auc() {
  quick=${QUICK:-}
  out=${OUT:-$here/build/online-auc${quick:+-quick}.tsv}
  mkdir -p "$(dirname "$out")"
  printf 'data\tmethod\tsweeps\tseconds\tauc_roc\tlog_loss\tseed\n' | tee "$out" >&2
  short='4 8 16 32 64' long='128 256 512 1000' steps='8 16 32 64 128 256 512'
  for seed in ${SEEDS:-1}; do
    if [ -n "$quick" ]; then
      split_series kinship "$seed" cells '8 32 128' '32 256 2048' --rank 100 --dirichlet 0.05
      split_series umls "$seed" cells '8 32 128' '32 256 2048' --rank 50 --dirichlet 0.05
      continue
    fi
    ! wanted kinship || split_series kinship "$seed" cells "$short $long" "$steps 1024 2048 4096 8192" --rank 100 \
      --dirichlet 0.05
    ! wanted umls || split_series umls "$seed" cells "$short $long" "$steps 1024 2048 4096 8192" --rank 50 \
      --dirichlet 0.05
    ! wanted movielens-100k || split_series movielens-100k "$seed" cells "$short $long" "$steps 1024 2048 4096" \
      --rank 50
    ! wanted scholars || series scholars "$seed" '4 8 12 16 32 64 100' "16 32 48 64 128 256 512" \
      "$data/scholars/tensor.tsv.gz" \
      --labels "venue=$data/scholars/venue-labels.tsv" --holdout 0.1 --rank 100
    ! wanted dblp-10k || split_series dblp-10k "$seed" ones "$short 100 150" "$steps" --rank 50
  done
  /usr/bin/python3 "$here/experiments/plot_online.py" "$out"
}

# Online with counts and parameters drawn or by their expectations.
choices() {
  for name in kinship movielens-100k scholars dblp-10k; do
    protocol=cells split=$work/$name
    case $name in
      kinship) set -- --rank 100 --dirichlet 0.05 --sweeps 6000 ;;
      movielens-100k) set -- --rank 50 --sweeps 1000 ;;
      scholars) protocol=ones; set -- --rank 100 --sweeps 400 ;;
      dblp-10k) protocol=ones; set -- --rank 50 --sweeps 600 --minibatch 17459 ;;
    esac
    if [ $name = scholars ]; then
      set -- "$data/scholars/tensor.tsv.gz" --labels "venue=$data/scholars/venue-labels.tsv" --holdout 0.1 "$@"
    else
      "$ztp" split "$data/$name/tensor.tsv.gz" --protocol $protocol --holdout 0.1 --seed 1 --out "$split" >/dev/null
      set -- "$split/train.tsv" --labels "$split/labels" --test "$split/test.tsv" "$@"
    fi
    for latent in sample mean; do
      for parameters in sample mean; do
        fit "$@" --holdout-as zero --method online --latent $latent --parameters $parameters --out "$work/run"
        printf 'choices\t%s\tlatent %s\tparameters %s\tAUC-ROC %.4f\t%.1f s\n' $name $latent $parameters \
          "$(scores "$work/run" | field auc_roc)" "$(info "$work/run" seconds)"
        rm -rf "$work/run"
      done
    done
    rm -rf "$split"
  done
}

# make_file ONES: a planted tensor of so many ones as $work/ones.ztpt, and how fast and in how much memory it was
# converted.
make_file() {
  "$ztp" simulate --dims "$dims" --ones "$1" --rank "$rank" --kind planted --seed 1 --no-truth --out "$work/sim" \
    >/dev/null
  /usr/bin/time -v -o "$work/time" "$ztp" convert "$work/sim/tensor.tsv" "$work/ones.ztpt" --labels "$work/sim/labels" \
    --force --json >"$work/converted"
  rm -rf "$work/sim"
  awk -v lines="$(field lines <"$work/converted")" -v s="$(field seconds <"$work/converted")" \
    -v bytes="$(field bytes <"$work/converted")" '
    /Maximum resident/ {
      printf "scale\tconvert\t%d lines\t%.1f s\t%.2f million lines/s\tfile %.2f GiB\tpeak memory %.2f GiB\n",
      lines, s, lines / s / 1e6, bytes / 2^30, $NF / 2^20}' "$work/time"
}

# run_file METHOD SWEEPS: a fit of that file. Ones a second from the second step on to the last but one, which is not
# followed by a draw; memory against that of factors and statistics, whose rows are padded to 32 floats and 32 int64 (16
# of each for R up to 16, and so on).
run_file() {
  fit "$work/ones.ztpt" --method "$1" --rank "$rank" --sweeps "$2" --draws 1 --out "$work/run"
  "$ztp" info "$work/run" --json >"$work/info"
  ones=$(field ones <"$work/info")
  each=$ones
  [ "$1" = batch ] || each=$(field minibatch <"$work/info")
  entities=$(sed -n 's/.*"size": *\([0-9]*\).*/\1/p' "$work/info" | awk '{n += $1} END {print n}')
  awk -F'\t' -v each="$each" 'NR == 2 {first = $3} NR > 2 {before = last; last = $3; n++}
    END {printf "%.0f", each * (n - 1) / (before - first)}' "$work/run/trace.tsv" >"$work/rate-$1"
  awk -v method="$1" -v ones="$ones" -v each="$each" -v n="$entities" -v rank="$rank" -v steps="$2" \
    -v peak="$(field peak_memory_bytes <"$work/info")" -v rate="$(cat "$work/rate-$1")" 'BEGIN {
      state = n * 12 * 16 * int((rank + 15) / 16)
      printf "scale\t%s\t%d ones\t%d entities\tR %d\t%d steps of %d ones\t%.2f million ones/s\tpeak memory %.2f GiB",
        method, ones, n,
        rank, steps, each, rate / 1e6, peak / 2^30
      if (method == "online")
        printf "\tfactors and statistics %.2f GiB\tdifference %.2f GiB", state / 2^30, (peak - state) / 2^30
      print ""}'
  rm -rf "$work/run"
}

# A tensor file larger than a minibatch by far: speed and memory of conversion, online and batch; then twice the ones,
# online.
scale() {
  ones1=${ONES:-200000000} dims=${DIMS:-10000000,10000000,1000} rank=${RANK:-20}
  ones2=${ONES2:-$((2 * ones1))}
  [ -x /usr/bin/time ] || { echo "scale needs GNU time at /usr/bin/time" >&2; exit 2; }
  # Largest of: the text beside the converted file and its temporary data; the converted file, a copy of its ones, a run
  # with a checkpoint.
  need=$(echo "$dims" | awk -F, -v a="$ones1" -v b="$ones2" -v rank="$rank" '{
    for (k = 1; k <= NF; k++) {line += length($k) + 1; n += $k}
    most = a > b ? a : b; one = 4 * NF + 1
    text = most * (line + 2 * one); run = (most + a) * one + n * 12 * (rank + 16 * int((rank + 15) / 16))
    printf "%d", ((text > run ? text : run) + 2 * n * 10) / 1024 + 1}')
  room=$(df -Pk "$work" | awk 'NR == 2 {print $4}')
  printf 'scale\tdisk\tneeded %s MiB\tfree %s MiB\n' $((need / 1024)) $((room / 1024))
  [ "$room" -gt "$need" ] || { echo \
    "scale needs $((need / 1024)) MiB in ${work%/*}: set TMPDIR, or smaller ONES and ONES2" >&2; exit 1; }
  make_file "$ones1"
  run_file online 10
  cp "$work/rate-online" "$work/rate-first"
  run_file batch 5
  run_file online 10
  awk -v o="$(cat "$work/rate-first")" -v p="$(cat "$work/rate-online")" -v b="$(cat "$work/rate-batch")" \
    'BEGIN {printf "scale\tratio\tonline %.2f and %.2f million ones/s\tbatch between them %.2f million ones/s" \
      "\tonline / batch %.2f and %.2f\n",
      o / 1e6, p / 1e6, b / 1e6, o / b, p / b}'
  make_file "$ones2"
  run_file online 10
  rm -f "$work/ones.ztpt"
}

# New data: one fit of everything; a fit of the first twentieth and nineteen updates of one each; a fit of the first
# half and ten updates. The training ones come in a random order.
update() {
  for name in ${SETS:-kinship umls movielens-100k scholars dblp-10k}; do
    protocol=cells split=$work/$name
    case $name in
      kinship) set -- --rank 100 --dirichlet 0.05 --sweeps 1000 ;;
      umls) set -- --rank 50 --dirichlet 0.05 --sweeps 1000 ;;
      movielens-100k) set -- --rank 50 --sweeps 400 ;;
      scholars) protocol=ones; set -- --rank 100 --sweeps 100 ;;
      dblp-10k) protocol=ones; set -- --rank 50 --sweeps 150 ;;
    esac
    "$ztp" split "$data/$name/tensor.tsv.gz" --protocol $protocol --holdout 0.1 --seed 1 --out "$split" >/dev/null 2>&1
    head -1 "$split/train.tsv" >"$work/header"
    sed 1d "$split/train.tsv" | awk 'BEGIN {srand(1)} {printf "%.9f\t%s\n", rand(), $0}' | LC_ALL=C sort |
      cut -f2- >"$work/ones"
    total=$(wc -l <"$work/ones")
    for first in 20 1 10; do  # twentieths that are fitted
      begin=$((total * first / 20))
      { cat "$work/header"; head -n $begin "$work/ones"; } >"$work/first.tsv"
      fit "$work/first.tsv" --labels "$split/labels" --test "$split/test.tsv" --holdout-as zero "$@" --out "$work/run"
      part=$first
      while [ $part -lt 20 ]; do
        { cat "$work/header"; sed -n "$((total * part / 20 + 1)),$((total * (part + 1) / 20))p" "$work/ones"; } \
          >"$work/part.tsv"
        part=$((part + 1))
        "$ztp" update "$work/run" "$work/part.tsv" >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
      done
      scores "$work/run" >"$work/metrics"
      printf 'update\t%s\tfit of %d %%\t%d updates\tAUC-ROC %.4f\tlog-loss %.4f\n' "$name" $((5 * first)) \
        $((20 - first)) \
        "$(field auc_roc <"$work/metrics")" "$(field log_loss <"$work/metrics")"
      rm -rf "$work/run"
    done
    rm -rf "$split"
  done
}

[ $# -gt 0 ] || set -- auc choices update scale
for what; do
  case $what in
    auc | choices | update | scale) $what ;;
    *) echo "unknown experiment $what" >&2; exit 2 ;;
  esac
done
