#!/bin/sh
# A fit takes the memory that `ztp check` announced, within 15 %. (Not with sanitizers, which need memory of their own.)
. "$2/tests/cli/common.sh.inc"

"$ztp" simulate --dims 20000,20000,500 --ones 500000 --rank 10 --seed 1 --no-truth --out sim >/dev/null
for rank in 5 50; do
  announced=$("$ztp" check sim/tensor.tsv --rank $rank --json | sed -n 's/.*"memory_bytes": *\([0-9.]*\).*/\1/p')
  "$ztp" fit sim/tensor.tsv --rank $rank --sweeps 4 --out run --force >/dev/null 2>&1
  taken=$("$ztp" info run --json | sed -n 's/.*"peak_memory_bytes": *\([0-9]*\).*/\1/p')
  awk -v a="$announced" -v t="$taken" 'BEGIN { exit !(t < 1.15 * a && t > 0.85 * a) }' ||
    { echo "FAILED: rank $rank: announced $announced bytes, taken $taken"; failed=1; }
done
finish
