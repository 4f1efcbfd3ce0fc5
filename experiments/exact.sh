#!/bin/sh
# Rank, mixing, learned hyperparameters and missing cells: the figures of docs/results.md. Needs the data sets under
# $ZTP_DATA, but for `rank`, whose tensors are simulated.
#   experiments/exact.sh [rank] [kinship-rank] [mixing] [learn] [missing] [cold-start]     default: all
# Prints one line a run, TAB-separated, and a summary. Work files go to a temporary directory. Seeds are fixed.
set -eu
. "$(dirname "$0")/common.sh.inc"
threads=${THREADS:-1}

fit() { ztp_fit "$@" --threads "$threads" --force >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }; }
# Mean of the occupied rank over the sweeps after burn-in, all chains.
mean_rank() { awk -F'\t' -v burn="$2" 'NR > 1 && $2 > burn {s += $5; n++} END {printf "%.2f", s / n}' "$1/trace.tsv"; }
seconds() { awk -F'\t' 'NR > 1 {last[$1] = $3} END {for (c in last) s += last[c]; printf "%.1f", s}' "$1/trace.tsv"; }

# Planted tensors of known rank, upper bounds of 20, 40 and 80, both starts, both samplers.
rank() {
  for kind in planted model; do
    for true in 5 10 15; do
      if [ $kind = planted ]; then set -- --dims 150,150,150 --ones 8000; else set -- --dims 200,200,200 \
        --ones 10000; fi
      "$ztp" simulate "$@" --rank $true --kind $kind --seed 1 --out "$work/sim" --force >/dev/null
      for sampler in plain collapsed; do
        for bound in 20 40 80; do
          for start in allocation prior; do
            fit "$work/sim/tensor.tsv" --labels "$work/sim/labels" --holdout 0.1 --holdout-as zero \
              --rank $bound --sweeps 800 --start $start \
              --sampler $sampler --seed 1 --out "$work/run"
            printf 'rank\t%s\ttrue %s\t%s\tbound %s\tstart %s\toccupied %s\tAUC-ROC %.4f\n' $kind $true $sampler \
              $bound $start \
              "$(mean_rank "$work/run" 400)" "$(metric "$work/run" auc_roc)"
          done
        done
      done
    done
  done
}

split_cells() { # NAME SEED
  "$ztp" split "$data/$1/tensor.tsv.gz" --protocol cells --holdout 0.1 --seed "$2" --out "$work/$1-$2" --force \
    >/dev/null
}
# cells NAME SEED; no spaces in $work
cells() { echo "$work/$1-$2/train.tsv --labels $work/$1-$2/labels --test $work/$1-$2/test.tsv"; }

# Kinship at R = 100 from both starts.
kinship_rank() {
  split_cells kinship 1
  for sampler in plain collapsed; do
    for start in allocation prior; do
      fit $(cells kinship 1) --holdout-as zero --dirichlet 0.05 --rank 100 --sweeps 2000 --sampler $sampler \
        --start $start --out "$work/run"
      printf 'kinship rank\t%s\tstart %s\toccupied %s\tAUC-ROC %.4f\n' $sampler $start "$(mean_rank "$work/run" 1000)" \
        "$(metric "$work/run" auc_roc)"
    done
  done
}

# Effective samples a second: four chains, the same sweeps with both samplers.
mixing() {
  split_cells kinship 1
  split_cells umls 1
  split_cells movielens-100k 1
  "$ztp" simulate --dims 200,200,200 --ones 10000 --rank 10 --kind model --seed 1 --out "$work/sim" --force >/dev/null
  for name in simulated kinship umls movielens-100k; do
    for sampler in plain collapsed; do
      if [ $name = simulated ]; then set -- "$work/sim/tensor.tsv" --labels "$work/sim/labels" \
        --holdout 0.1; else set -- $(cells $name 1); fi
      fit "$@" --holdout-as zero --rank 20 --sweeps 600 --chains 4 --sampler $sampler --out "$work/run"
      "$ztp" diagnose "$work/run" >"$work/table"
      awk -v n=$name -v s=$sampler -v a="$(metric "$work/run" auc_roc)" '
        /^log-likelihood/ {l = $2; le = $NF} /^cell, median/ {m = $NF; mr = $(NF - 3)}
        /^total weight/ {w = $NF} /^occupied/ {o = $NF}
        END {printf "mixing\t%s\t%s\tmean log-likelihood %s\t", n, s, l
          printf "ESS/s: log-likelihood %s, total weight %s, occupied %s, median cell %s (R-hat %s)\tAUC-ROC %.4f\n",
            le, w, o, m, mr, a}' "$work/table"
    done
  done
}

# Fixed Dirichlet values beside learned ones: a random tenth of all cells held out, three splits.
learn() {
  for job in "kinship 20 400 2" "kinship 50 400 2" "umls 20 400 2" "umls 50 400 2" "movielens-100k 20 200 1"; do
    set -- $job
    name=$1 rank=$2 sweeps=$3 chains=$4
    for split in 1 2 3; do
      split_cells $name $split
      for a in 0.01 0.05 0.1 0.3 0.5 1 dirichlet dirichlet,gamma-shape; do
        case $a in dirichlet*) set -- --learn $a ;; *) set -- --dirichlet $a ;; esac
        fit $(cells $name $split) "$@" --holdout-as zero --sampler collapsed --rank $rank --sweeps $sweeps \
          --chains $chains --seed $split --out "$work/run"
        printf 'learn\t%s\tR %s\tsplit %s\t%s\t%.4f\t%.5f\n' $name $rank $split $a "$(metric "$work/run" auc_roc)" \
          "$(metric "$work/run" log_loss)"
      done
    done
  done | tee "$work/learn"
  awk -F'\t' '{k = $2 "\t" $3 "\t" $5; s[k] += $6; q[k] += $6^2; l[k] += $7; n[k]++}
    END {for (k in s) {m = s[k] / n[k]; sd = sqrt((q[k] / n[k] - m^2) * n[k] / (n[k] - 1))
      printf "learn, mean\t%s\tAUC-ROC %.4f (sd %.4f)\tlog-loss %.5f\n", k, m, sd, l[k] / n[k]}}' "$work/learn" | sort
}

# Held-out cells as zeros and as missing.
missing() {
  for job in "kinship 100" "umls 50"; do
    set -- $job
    for split in 1 2 3; do
      split_cells $1 $split
      for as in zero missing; do
        fit $(cells $1 $split) --dirichlet 0.05 --rank $2 --sweeps 400 --seed $split --holdout-as $as --out "$work/run"
        printf 'missing\t%s\tR %s\tsplit %s\theld out as %s\tAUC-ROC %.4f\tlog-loss %.5f\tcalibration error %.5f\n' $1 \
          $2 $split $as \
          "$(metric "$work/run" auc_roc)" "$(metric "$work/run" log_loss)" "$(metric "$work/run" calibration_error)"
      done
    done
  done
}

# Entities without data, with a network: their cells as zeros (the paper's) and as missing slices. (Test cells as zeros:
# those in missing slices are missing even so.)
cold_start() {
  "$ztp" simulate --dims 100,60,40 --ones 9000 --rank 4 --edges mode1=900 --seed 21 --out "$work/sim" --force >/dev/null
  "$ztp" split "$work/sim/tensor.tsv" --labels "$work/sim/labels" --protocol slices --mode mode1 --after 80 \
    --out "$work/cold" --force >/dev/null
  for bound in 4 8 20; do
    for as in zero missing; do
      set --
      [ $as = zero ] || set -- --missing-slices "mode1=$work/cold/missing-mode1.txt"
      fit "$work/cold/train.tsv" --labels "$work/cold/labels" --test "$work/cold/test.tsv" \
        --holdout-as zero --network "mode1=$work/sim/network-mode1.tsv" \
        "$@" --rank $bound --sweeps 600 --out "$work/run"
      printf 'cold start\tsimulated, rank 4\tbound %s\tslices %s\tAUC-ROC %.4f\tlog-loss %.4f\n' $bound $as \
        "$(metric "$work/run" auc_roc)" "$(metric "$work/run" log_loss)"
    done
  done
  "$ztp" split "$data/scholars/tensor.tsv.gz" --labels "author=$data/scholars/author-labels.tsv" --protocol slices \
    --mode author --after 1000 --zeros-per-one 5 --seed 1 --out "$work/scholars" --force >/dev/null
  gzip -dc "$data/scholars/network-author.tsv.gz" >"$work/network.tsv"
  for as in zero missing; do
    set --
    [ $as = zero ] || set -- --missing-slices "author=$work/scholars/missing-author.txt"
    fit "$work/scholars/train.tsv" --labels "$work/scholars/labels" --test "$work/scholars/test.tsv" \
      --holdout-as zero --network "author=$work/network.tsv" \
      "$@" --rank 40 --sweeps 60 --seed 1 --out "$work/run"
    printf 'cold start\tscholars\tR 40\tslices %s\tAUC-ROC %.4f\tAUC-PR %.4f\tlog-loss %.4f\n' $as \
      "$(metric "$work/run" auc_roc)" \
      "$(metric "$work/run" auc_pr)" "$(metric "$work/run" log_loss)"
  done
}

[ $# -gt 0 ] || set -- rank kinship-rank mixing learn missing cold-start
for what; do
  case $what in
    kinship-rank) kinship_rank ;;
    cold-start) cold_start ;;
    rank | mixing | learn | missing) $what ;;
    *) echo "unknown experiment $what" >&2; exit 2 ;;
  esac
done
