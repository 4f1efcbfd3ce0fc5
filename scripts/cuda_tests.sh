#!/bin/sh
# The tests of the kernel for GPUs (make test-cuda), part of what make cuda-bundle makes. Takes half an hour.
#   test [DATA [PART...]]   DATA: a directory of data sets, as $ZTP_DATA; without it, or with "", fits of real data are
#                           left out. PART: kernels, laws, chains, ranks, fits, sanitizer; by default all
# 1. Every operation against the reference, its law and its parity: the tests of kernels, draws and chains.
# 2. Whole chains against exact posteriors and by joint tests.
# 3. Two fits with the same seed have the same bytes; AUC-ROC as with --kernel cpu, within four standard errors of its
#    Monte Carlo error, on Kinship, UMLS and Scholars.
# 4. Several processes that share a chain make the bytes of one: as threads, and started by $MPIRUN, an mpirun. $MPI_ZTP:
#    the program that it starts, with libztp_mpi.so and libztp_cuda.so of the same build; by default this bundle's.
#    Without $MPIRUN these fits are left out.
# 5. compute-sanitizer, where it is installed: memcheck and racecheck of the tests of kernels.
set -u
here=$(cd "$(dirname "$0")" && pwd)
data=${1:-${ZTP_DATA:-}}
[ $# -eq 0 ] || shift
parts=${*:-kernels laws chains ranks fits sanitizer}
wants() { case " $parts " in *" $1 "*) ;; *) return 1 ;; esac; }
run=$here/run
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SOURCE_DATE_EPOCH=1547683200
passed=0
failed=0
check() { # NAME COMMAND...
  name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    passed=$((passed + 1))
    echo "passed: $name"
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
    grep -E 'Failure|FAILED|Expected|actual|ztp:|=========' "$work/log" | head -20
  fi
}

# sharded NAME PROGRAM PARTS: the tests of a program in so many processes at once
sharded() {
  for shard in $(seq 0 $(($3 - 1))); do
    (GTEST_TOTAL_SHARDS=$3 GTEST_SHARD_INDEX=$shard "$run" "$2" --gtest_brief=1 >"$work/shard$shard" 2>&1
      echo $? >"$work/rc$shard") &
  done
  wait
  for shard in $(seq 0 $(($3 - 1))); do
    check "$1, part $((shard + 1))" sh -c "cat '$work/shard$shard'; exit \$(cat '$work/rc$shard')"
  done
}

"$run" ztp simulate --dims 9,9 --ones 9 --rank 1 --out "$work/tiny" >/dev/null
"$run" ztp fit "$work/tiny/tensor.tsv" --kernel cuda --sampler plain --rank 2 --sweeps 2 --chains 1 --out "$work/run" \
  >/dev/null 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
! wants kernels || sharded "operations against the reference" kernel_tests 8
laws="counts_dist_test columns_dist_test gamma_dist_test"
wants laws || laws=""
for program in $laws; do
  "$run" $program --gtest_brief=1 >"$work/$program" 2>&1 &
  eval "pid_$program=$!"
done
for program in $laws; do
  eval "wait \$pid_$program"
  echo $? >"$work/rc-$program"
done
for program in $laws; do
  check "distributions: $program" sh -c "cat '$work/$program'; exit \$(cat '$work/rc-$program')"
done
# One process each: several would take turns on the GPU, and these wait for it in every sweep.
if wants chains; then
  check "chains against exact posteriors" env ZTP_TEST_KERNEL=cuda "$run" exact_calibration_test --gtest_brief=1
  check "joint tests" env ZTP_TEST_KERNEL=cuda "$run" joint_calibration_test --gtest_brief=1
fi

# ---- several processes that share a chain, and a GPU ----
# as_one NAME ARGS...: a fit by 2, 3 and 4 processes has the bytes of one
as_one() {
  fit_name=$1
  shift
  rm -rf "$work/one"
  of_ranks fit "$@" --kernel cuda --sampler plain --sweeps 30 --burn-in 10 --out "$work/one" || return 1
  for ranks in 2 3 4; do
    rm -rf "$work/several"
    # shellcheck disable=SC2086
    $MPIRUN -n $ranks $MPI_ZTP fit "$@" --kernel cuda --sampler plain --sweeps 30 --burn-in 10 --out "$work/several" ||
      { echo "FAILED: $fit_name, $ranks processes"; return 1; }
    for file in draws.nc means.nc; do
      cmp "$work/one/$file" "$work/several/$file" || { echo "FAILED: $fit_name, $ranks processes: $file"; return 1; }
    done
  done
}
# shellcheck disable=SC2086
of_ranks() { $MPI_ZTP "$@"; }
ranks_agree() {
  "$run" ztp simulate --dims 3000,2000,5 --ones 60000 --rank 8 --mode-names user,item,week --edges user=4000 --seed 3 \
    --out "$work/made" >/dev/null
  awk -F '\t' '!/^#/ { print $0 "\t" 1 + $1 % 7 * ($2 % 3) }' "$work/made/tensor.tsv" >"$work/counts.tsv"
  printf '7\n1400\n' >"$work/slices.tsv"
  grep -v -e '^7	' -e '^1400	' "$work/made/tensor.tsv" >"$work/few.tsv"
  "$run" ztp convert "$work/made/tensor.tsv" --labels user="$work/made/labels/user.txt" "$work/made.ztpt" >/dev/null
  made=$work/made/tensor.tsv
  labels="--labels user=$work/made/labels/user.txt"
  network="--network user=$work/made/network-user.tsv $labels"
  held_out="--holdout 0.1 --zeros-per-one 2"
  # shellcheck disable=SC2086
  {
    check "several processes: binary" as_one binary "$made" --chains 1 --rank 30 $held_out
    check "several processes: two chains" as_one chains "$made" --chains 2 --rank 30 $held_out
    check "several processes: many components" as_one many "$made" --chains 1 --rank 300 --memory 512M
    check "several processes: counts" as_one counts "$work/counts.tsv" --chains 1 --rank 20 --likelihood count $held_out
    check "several processes: a network" as_one network "$made" $network --chains 1 --rank 20 --learn dirichlet,gamma-shape
    check "several processes: missing slices" as_one slices "$work/few.tsv" $labels --chains 1 --rank 20 $held_out \
      --missing-slices user="$work/slices.tsv"
    check "several processes: a small Dirichlet parameter" as_one small "$made" --chains 1 --rank 20 --dirichlet 0.004
    check "several processes: shared columns" as_one shared "$made" --chains 1 --rank 20 --columns user=10
    check "several processes: online" as_one online "$work/made.ztpt" --chains 1 --rank 20 --method online --minibatch 5000
  }
}
if wants ranks; then
  check "several processes as threads: columns" "$run" kernel_tests --gtest_filter='RankColumns*' --gtest_brief=1
  check "several processes as threads: chains" "$run" sampler_tests --gtest_filter='*RankChain*' --gtest_brief=1
  MPI_ZTP=${MPI_ZTP:-$run ztp}
  export OMPI_MCA_hwloc_base_binding_policy=none
  if [ -n "${MPIRUN:-}" ]; then ranks_agree; else echo "skipped: fits by several processes (there is no \$MPIRUN)"; fi
fi

# fit KERNEL SEED FILE ARGS...: into $work/KERNEL-SEED; prints its AUC-ROC
fit() {
  kernel=$1
  seed=$2
  file=$3
  shift 3
  "$run" ztp fit "$file" --kernel "$kernel" --seed "$seed" --sampler plain --chains 1 --holdout 0.1 "$@" \
    --out "$work/$kernel-$seed" --force >/dev/null 2>"$work/fit.log" || { cat "$work/fit.log" >&2; return 1; }
  "$run" ztp evaluate "$work/$kernel-$seed" --raw --head 0 --json |
    sed 's/"popularity".*//; s/.*"auc_roc":\([0-9.]*\).*/\1/'
}
# same_auc NAME FILE ARGS...: five seeds with each kernel
same_auc() {
  name=$1
  shift
  for seed in 1 2 3 4 5; do
    echo "$(fit cpu $seed "$@") $(fit cuda $seed "$@")"
  done >"$work/auc"
  # Splits are the same for the same seed, so differences are of chains alone.
  if awk -v name="$name" '{d = $2 - $1; s += d; q += d * d; c += $1; g += $2; n++}
      END {m = s / n; e = sqrt((q / n - m * m) / (n - 1))
        printf "%s: AUC-ROC %.5f (cpu), %.5f (cuda), difference %.5f, ", name, c / n, g / n, m
        printf "standard error %.5f\n", e
        exit !(n == 5 && c > 0 && m * m <= 16 * e * e + 1e-10)}' "$work/auc"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $name"
  fi
}
if wants fits && [ -n "$data" ] && [ -e "$data/kinship/tensor.tsv.gz" ]; then
  same_auc Kinship "$data/kinship/tensor.tsv.gz" --rank 20 --sweeps 400
  same_auc UMLS "$data/umls/tensor.tsv.gz" --rank 20 --sweeps 400
  same_auc "Kinship, tied" "$data/kinship/tensor.tsv.gz" --tie person_i=person_j --sweeps 60
  cp -r "$work/cuda-1" "$work/first"
  fit cuda 1 "$data/kinship/tensor.tsv.gz" --tie person_i=person_j --sweeps 60 >/dev/null
  check "two fits of tied modes have the same bytes" cmp "$work/first/draws.nc" "$work/cuda-1/draws.nc"
  [ ! -e "$data/scholars/tensor.tsv.gz" ] || same_auc Scholars "$data/scholars/tensor.tsv.gz" --rank 50 --sweeps 60
fi
fits_agree() {
  "$run" ztp simulate --dims 300,200,50 --ones 20000 --rank 10 --out "$work/sim" >/dev/null 2>&1
  for method in batch online; do
    fit cuda 7 "$work/sim/tensor.tsv" --rank 15 --sweeps 100 --method $method >/dev/null
    cp -r "$work/cuda-7" "$work/first-$method"
    fit cuda 7 "$work/sim/tensor.tsv" --rank 15 --sweeps 100 --method $method >/dev/null
    check "two $method fits have the same bytes" cmp "$work/first-$method/draws.nc" "$work/cuda-7/draws.nc"
  done
  # ---- answers of one run with both kernels ----
  "$run" ztp fit "$work/sim/tensor.tsv" --kernel cpu --seed 3 --sampler plain --chains 2 --rank 12 --sweeps 60 \
    --holdout 0.1 --out "$work/asked" >/dev/null 2>&1
  "$run" ztp fit "$work/sim/tensor.tsv" --kernel cpu --seed 3 --sampler plain --chains 1 --tie mode1=mode2 --columns 8 \
    --sweeps 20 --holdout 0.1 --out "$work/asked-shared" >/dev/null 2>&1
  # numbers FILE: all numbers of a text, a line each
  numbers() { grep -oE '[-+]?[0-9]+([.][0-9]+)?(e[-+]?[0-9]+)?' "$1"; }
  # same_numbers DIGITS COMMAND...: the command says the same with both kernels, and twice the same bytes with a GPU
  same_numbers() {
    digits=$1
    shift
    for kernel in cpu cuda; do "$run" ztp "$@" --kernel $kernel >"$work/says-$kernel" || return 1; done
    "$run" ztp "$@" --kernel cuda | cmp - "$work/says-cuda" || return 1
    numbers "$work/says-cpu" >"$work/numbers-cpu"
    numbers "$work/says-cuda" >"$work/numbers-cuda"
    [ -s "$work/numbers-cpu" ] || return 1
    paste "$work/numbers-cpu" "$work/numbers-cuda" | awk -v digits="$digits" '{
        d = $1 - $2; if (d < 0) d = -d; size = $1 < 0 ? -$1 : $1; if (size < 1) size = 1
        if (NF != 2 || d > 1.5 * size * 10 ^ -digits) {print "FAILED: " $0; bad = 1}}
      END {exit bad}'
  }
  for asked in asked asked-shared; do
    check "$asked: the same ranking" same_numbers 4 evaluate "$work/$asked" --ranking all --json
    check "$asked: the same scores" same_numbers 5 evaluate "$work/$asked" --raw --head 0 --json
    check "$asked: the same predictions" same_numbers 5 predict "$work/$asked" "$work/$asked/test.tsv"
    check "$asked: the same recommendations" same_numbers 5 recommend "$work/$asked" mode3=1 --top 5
  done

  # ---- online from a file, as from memory ----
  "$run" ztp convert "$work/sim/tensor.tsv" "$work/sim.ztpt" --labels "$work/sim/labels" >/dev/null
  online_auc() { # FILE SEED
    "$run" ztp fit "$1" --kernel cuda --method online --seed "$2" --chains 1 --rank 12 --minibatch 3000 --sweeps 300 \
      --holdout 0.1 --out "$work/online" --force >/dev/null 2>"$work/fit.log" || cat "$work/fit.log" >&2
    "$run" ztp evaluate "$work/online" --raw --head 0 --json | sed 's/"popularity".*//; s/.*"auc_roc":\([0-9.]*\).*/\1/'
  }
  # The parts are not the same in a file and in memory: means over seeds are compared, within five standard errors.
  for seed in 1 2 3 4 5 6; do
    echo "$(online_auc "$work/sim/tensor.tsv" $seed) $(online_auc "$work/sim.ztpt" $seed)"
  done >"$work/auc"
  check "online from a file as from memory" awk '{d = $2 - $1; s += d; q += d * d; n++; least = $2 < $1 ? $2 : $1}
    END {m = s / n; e = sqrt((q / n - m * m) / (n - 1)); print "FAILED: difference " m ", standard error " e
      exit !(n == 6 && least > 0.5 && m * m <= 25 * e * e + 1e-6)}' "$work/auc"
}
! wants fits || fits_agree

# Those that are not too long under it.
sanitized='Arrays.*:NarrowCounts.*:Oracle.Place:Oracle.Tally:Oracle.ImputeDiagonal:Oracle.DrawSumAndScale'
sanitized="$sanitized:Oracle.ScoreOfCellsUploaded:Parity.Allocate"
sanitized="$sanitized:Oracle.ExpectedCounts*:Oracle.UnitsMultiplyCounts:Oracle.AllocateAtRandom"
if wants sanitizer && command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    check "compute-sanitizer $tool" compute-sanitizer --tool $tool --error-exitcode 9 "$here"/lib/ld-linux-* \
      --library-path "$here/lib:${LD_LIBRARY_PATH:-}" "$here/kernel_tests" \
      --gtest_filter="$sanitized" \
      --gtest_brief=1
  done
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
