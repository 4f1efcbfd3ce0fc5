#!/bin/sh
# The figures of docs/results.md, "Ranking". Needs the data sets under $ZTP_DATA (see docs/results.md).
#   experiments/ranking.sh [choose] [fb15k-237] [choose-shared] [shared] [movielens] [defaults]     default: all
# choose: FB15k-237, rank and Dirichlet parameter on the validation set. fb15k-237: the test set, with those that were
# best ($RANK and $DIRICHLET override them). choose-shared, shared: the same for tied modes with shared columns
# ($COLUMNS, $RANK, $DIRICHLET, $CHAINS, $SWEEPS). movielens: a tenth of the ones held out, three splits. defaults:
# FB15k-237 with the default options, without and with --tie, beside popularity. Prints one line a run, TAB-separated,
# of both sides together unless said otherwise. Work files go to a temporary directory.
set -eu
. "$(dirname "$0")/common.sh.inc"
threads=${THREADS:-2}

# Train is what is neither in the validation nor in the test set. Some entities occur only there: the label files name
# all.
prepare() {
  [ ! -e "$work/fb" ] || return 0
  mkdir -p "$work/fb/labels"
  for part in valid test; do gzip -dc "$data/fb15k-237/split-$part.tsv.gz" >"$work/fb/$part.tsv"; done
  gzip -dc "$data/fb15k-237/tensor.tsv.gz" >"$work/fb/all.tsv"
  awk -v last="$work/fb/all.tsv" 'FILENAME != last {held[$0]; next} FNR == 1 || !($0 in held)' \
    "$work/fb/valid.tsv" "$work/fb/test.tsv" "$work/fb/all.tsv" >"$work/fb/train.tsv"
  awk -F'\t' 'FNR > 1 {print $1; print $2}' "$work/fb/all.tsv" | LC_ALL=C sort -u >"$work/fb/labels/entity_i.txt"
  cp "$work/fb/labels/entity_i.txt" "$work/fb/labels/entity_j.txt"
  awk -F'\t' 'FNR > 1 {print $3}' "$work/fb/all.tsv" | LC_ALL=C sort -u >"$work/fb/labels/relation.txt"
}

fit_fb() { # RANK DIRICHLET
  prepare
  ztp_fit "$work/fb/train.tsv" --labels "$work/fb/labels" --sampler plain --rank "$1" --dirichlet "$2" --sweeps 300 \
    --draws 50 --seed 1 --threads "$threads" --out "$work/run-fb" --force >/dev/null 2>&1
}

# summary < JSON: those of the object "all".
summary() {
  n='\([0-9.e-]*\)'
  sed 's/,"popularity".*//; s/.*"all"://' |
    sed "s/.*\"mrr\":$n,\"mean_rank\":$n,\"hits\":{\"1\":$n,\"3\":$n,\"10\":$n}.*/\1 \2 \3 \4 \5/" |
    awk '{printf "MRR %.4f\tmean rank %.0f\tHits@1 %.4f\tHits@3 %.4f\tHits@10 %.4f\n", $1, $2, $3, $4, $5}'
}

choose() {
  for pair in ${PAIRS:-50/0.1 100/0.1 200/0.1 50/0.02 100/0.02 200/0.02}; do
    fit_fb "${pair%/*}" "${pair#*/}"
    printf 'fb15k-237 validation\tR %s\ta %s\t%s\n' "${pair%/*}" "${pair#*/}" \
      "$("$ztp" evaluate "$work/run-fb" "$work/fb/valid.tsv" --ranking entity_i,entity_j --filter "$work/fb/test.tsv" \
        --draws "${CHOOSE_DRAWS:-5}" --threads "$threads" --json | summary)"
  done
}

fb15k237() {
  rank=${RANK:-200} dirichlet=${DIRICHLET:-0.1}
  fit_fb "$rank" "$dirichlet"
  for draws in ${TEST_DRAWS:-1 20}; do
    /usr/bin/time -f '%M %e %U' -o "$work/time" "$ztp" evaluate "$work/run-fb" "$work/fb/test.tsv" \
      --ranking entity_i,entity_j \
      --filter "$work/fb/valid.tsv" --draws "$draws" --threads "$threads" --json >"$work/out.json"
    printf 'fb15k-237 test\tR %s\ta %s\t%s draws\t%s\t%s\n' "$rank" "$dirichlet" "$draws" \
      "$(summary <"$work/out.json")" \
      "$(awk '{printf "peak %.0f MiB\t%.0f s, %.0f s of processors", $1 / 1024, $2, $3}' "$work/time")"
  done
  for mode in entity_i entity_j; do
    printf 'fb15k-237 test, %s replaced\t%s\n' $mode \
      "$(sed "s/\"all\":.*//; s/.*\"$mode\"://; s/},\"entity_j\".*//" "$work/out.json" | summary)"
  done
}

fit_shared() { # COLUMNS RANK DIRICHLET CHAINS [OPTION...]
  prepare
  columns=$1 rank=$2 dirichlet=$3 chains=$4
  shift 4
  ztp_fit "$work/fb/train.tsv" --labels "$work/fb/labels" --tie entity_i=entity_j --columns "$columns" \
    --columns relation=own --rank "$rank" --dirichlet "$dirichlet" --sampler collapsed --sweeps "${SWEEPS:-300}" \
    --burn-in 200 --chains "$chains" --draws $((20 * chains)) --seed 1 --threads "$threads" --out "$work/run-fb" \
    --force "$@" >/dev/null 2>&1
}

choose_shared() {
  for setting in ${SETTINGS:-400/10000/0.015 800/20000/0.015 800/20000/0.03 800/20000/0.008 1600/40000/0.01}; do
    # shellcheck disable=SC2046  # three words
    fit_shared $(echo "$setting" | tr / ' ') 1
    printf 'fb15k-237 validation, shared columns\t%s\t%s\n' "$setting" \
      "$("$ztp" evaluate "$work/run-fb" "$work/fb/valid.tsv" --ranking entity_i,entity_j --filter "$work/fb/test.tsv" \
        --draws 10 --threads "$threads" --json | summary)"
  done
}

shared() {
  columns=${COLUMNS:-1600} rank=${RANK:-40000} dirichlet=${DIRICHLET:-0.01} chains=${CHAINS:-2}
  fit_shared "$columns" "$rank" "$dirichlet" "$chains"
  "$ztp" evaluate "$work/run-fb" "$work/fb/test.tsv" --ranking entity_i,entity_j --filter "$work/fb/valid.tsv" \
    --threads "$threads" --json >"$work/out.json"
  printf 'fb15k-237 test, shared columns\tP %s\tR %s\ta %s\t%s chains\t%s\n' "$columns" "$rank" "$dirichlet" "$chains" \
    "$(summary <"$work/out.json")"
}

movielens() {
  for split in 1 2 3; do
    "$ztp" split "$data/movielens-100k/tensor.tsv.gz" --protocol ones --holdout 0.1 --seed $split \
      --out "$work/ml-$split" >/dev/null
    for rank in 20 50; do
      ztp_fit "$work/ml-$split/train.tsv" --labels "$work/ml-$split/labels" --sampler plain --rank $rank \
        --sweeps 300 \
        --seed $split --threads "$threads" --out "$work/run-ml" --force >/dev/null 2>&1
      printf 'movielens\tsplit %s\tR %s\t%s\n' $split $rank \
        "$("$ztp" evaluate "$work/run-ml" "$work/ml-$split/test.tsv" --ranking movie --at 10,20 --threads "$threads" |
          awk '/^queries|^recall|^NDCG|^MRR/ {printf "%s%s %s", sep, $1, $2; sep = "\t"}')"
    done
  done
}

defaults() {
  prepare
  for tie in "" "--tie entity_i=entity_j"; do
    # shellcheck disable=SC2086  # no word or two
    "$ztp" fit "$work/fb/train.tsv" --labels "$work/fb/labels" --seed 31 --threads "$threads" $tie \
      --out "$work/run-fb" --force >/dev/null 2>&1
    "$ztp" evaluate "$work/run-fb" "$work/fb/test.tsv" --ranking entity_i,entity_j --filter "$work/fb/valid.tsv" \
      --draws 20 --threads "$threads" --json >"$work/out.json"
    printf 'fb15k-237 test, default options %s\t%s\n' "$tie" "$(summary <"$work/out.json")"
  done
  printf 'fb15k-237 test, popularity\t%s\n' "$(sed 's/.*"popularity"/"all"/' "$work/out.json" | summary)"
}

[ $# -gt 0 ] || set -- choose fb15k-237 choose-shared shared movielens defaults
for what; do
  case $what in
    fb15k-237) fb15k237 ;;
    choose-shared) choose_shared ;;
    choose | shared | movielens | defaults) $what ;;
    *) echo "unknown experiment $what" >&2; exit 2 ;;
  esac
done
