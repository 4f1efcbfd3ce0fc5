#!/bin/bash
# Runs every fuzz target for an equal part of the time:  fuzz/run.sh SECONDS_IN_ALL [FOLDER [TARGET...]] FOLDER
# (build/fuzz-out) gets corpus/TARGET, which the next run goes on from, crashes/, logs/ and figures.tsv. Fails if any
# target crashed, leaked, hung, or asked for more than 1 GiB at once. FUZZ_SEED, if set, makes a run repeat another one,
# as far as the machine is as fast.
set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${1:?usage: fuzz/run.sh SECONDS_IN_ALL [FOLDER [TARGET...]]}
out=${2:-build/fuzz-out}
programs=build/fuzz/fuzz
shift $(($# < 2 ? $# : 2))
targets=("$@")
[ ${#targets[@]} -gt 0 ] || for source in fuzz/fuzz_*.cpp; do targets+=("$(basename "$source" .cpp)"); done
jobs=$(($(nproc) < 2 ? 1 : 2))
each=$((seconds * jobs / ${#targets[@]}))
[ "$each" -ge 1 ] || each=1

# The files that targets write lie in memory, and go away whatever becomes of them.
TMPDIR=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)" ztp-fuzz.XXXXXX) || exit 1
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
asan=detect_leaks=1:quarantine_size_mb=4:malloc_context_size=10:allocator_may_return_null=0
export ASAN_OPTIONS=$asan:${ASAN_OPTIONS:-}
export UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS:-}

mkdir -p "$out"/{corpus,crashes,logs} || exit 1
"$programs/make_seeds" "$TMPDIR/seeds" || exit 1

# Longer inputs than these only take longer.
longest() {
  case $1 in
    fuzz_chains | fuzz_json) echo 8192 ;;
    *) echo 2048 ;;
  esac
}

run_target() {
  local target=$1 folders=()
  for folder in "$out/corpus/$target" "$TMPDIR/seeds/$target" "fuzz/seeds/$target"; do
    if [ "$folder" = "$out/corpus/$target" ]; then mkdir -p "$folder"; fi
    if [ -d "$folder" ]; then folders+=("$folder"); fi
  done
  local options=(-max_total_time="$each" -seed="${FUZZ_SEED:-0}" -max_len="$(longest "$target")" -rss_limit_mb=2048
    -malloc_limit_mb=1024 -timeout=20 -print_funcs=0 -print_final_stats=1 -artifact_prefix="$out/crashes/$target-")
  if [ -f "fuzz/dictionaries/$target" ]; then options+=(-dict="fuzz/dictionaries/$target"); fi
  nice "$programs/$target" "${options[@]}" "${folders[@]}" >"$out/logs/$target" 2>&1
  echo $? >"$out/logs/$target.status"
}

for target in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  run_target "$target" &
done
wait

failed=0
figures=$out/figures.tsv
printf 'target\texecutions\tper_second\tcoverage\tnew_coverage\tcorpus\tpeak_rss_mb\tfailures\n' >"$figures"
for target in "${targets[@]}"; do
  log=$out/logs/$target
  stat() { sed -n "s/^stat::$1: *//p" "$log" | tail -1; }
  coverage() { grep -o 'cov: [0-9]*' | cut -d' ' -f2; }
  first=$(grep -m1 'INITED' "$log" | coverage)
  last=$(grep 'cov: ' "$log" | tail -1 | coverage)
  failures=0
  if [ "$(cat "$log.status")" != 0 ]; then failures=1; failed=1; fi
  printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$target" "$(stat number_of_executed_units)" \
    "$(stat average_exec_per_sec)" "${last:-0}" "$((${last:-0} - ${first:-0}))" \
    "$(find "$out/corpus/$target" -type f | wc -l)" "$(stat peak_rss_mb)" "$failures" >>"$figures"
done
column -t "$figures" 2>/dev/null || cat "$figures"
awk -F'\t' 'NR > 1 { all += $2 } END { printf "%d executions in all\n", all }' "$figures"
if [ "$failed" != 0 ]; then
  for target in "${targets[@]}"; do
    if [ "$(cat "$out/logs/$target.status")" != 0 ]; then
      echo "$target failed; see $out/logs/$target, and the input:"
      grep -h 'SUMMARY\|not true\|Test unit written' "$out/logs/$target"
    fi
  done
fi
exit $failed
