# --rank auto from the outside: what it says, and that the bound is full where it is.
. "$(dirname "$0")/common.sh.inc"
"$ztp" simulate --dims 60,60,60 --ones 2000 --rank 10 --seed 4 --out sim >/dev/null

expect 0 'rank auto: 25 (99 % of the counts are in ' "$ztp" fit sim/tensor.tsv --sweeps 60 --out auto
grep -q 'Is the bound on the rank large enough? Yes' out.txt || { echo "FAILED: a bound of 25 is not full"; failed=1; }
expect 0 'rank at most 25' "$ztp" info auto
expect 0 '             rank auto: 25 (99 % of the counts are in ' "$ztp" info auto
expect 0 '"stop": "enough"' "$ztp" info auto --json
expect 0 'draws of 25 components' "$ztp" fit sim/tensor.tsv --rank auto --sweeps 60 --out said
cmp auto/draws.nc said/draws.nc || { echo "FAILED: --rank auto is not the default"; failed=1; }
expect 0 'draws of 25 components' "$ztp" fit sim/tensor.tsv --rank 25 --sweeps 60 --out given
cmp auto/draws.nc given/draws.nc || { echo "FAILED: --rank auto has changed the draws"; failed=1; }
! "$ztp" info given | grep -q 'rank auto' || { echo "FAILED: a rank that was given was not chosen"; failed=1; }

full='Is the bound on the rank large enough? No: 3 of 3 components are in use, so there may be more. Fit with --rank 6.'
expect 0 "$full" "$ztp" fit sim/tensor.tsv --rank 3 --sweeps 60 --out full
expect 0 "$full" "$ztp" diagnose full

expect 0 'rank auto: 25 (99 %' "$ztp" check sim/tensor.tsv
expect 0 'a fit at rank 25 with' "$ztp" check sim/tensor.tsv --rank auto
expect 0 '"rank": 25' "$ztp" check sim/tensor.tsv --json
expect 0 'a fit at rank 7 with' "$ztp" check sim/tensor.tsv --rank 7
for bad in 0 -1 100001 99999999999999999999; do
  expect 4 ': must be between 1 and 100000' "$ztp" fit sim/tensor.tsv --rank $bad --out none
done
for bad in many 1.5 010 Auto; do
  expect 2 'is not an integer, nor auto' "$ztp" fit sim/tensor.tsv --rank "$bad" --out none
done
[ ! -e none ] || { echo "FAILED: a run without a rank"; failed=1; }
finish
