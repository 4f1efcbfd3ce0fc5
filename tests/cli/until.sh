# --until converged from the outside: it ends for one of two reasons, says which, and goes on when asked to.
. "$(dirname "$0")/common.sh.inc"
"$ztp" simulate --dims 20,20,20 --ones 800 --rank 2 --seed 4 --out sim >/dev/null
fit="sim/tensor.tsv --rank 3 --holdout 0.1 --seed 1"

expect 0 'sweeps of each chain: the chains agree on predictions' \
  "$ztp" fit $fit --chains 4 --until converged --at-most 2m --out good
grep -qE 'Have the chains converged\? (Yes|Nearly)' out.txt || { echo "FAILED: the verdict differs"; failed=1; }
sweeps=$("$ztp" info good --json | sed -n 's/.*"sweeps": *\([0-9]*\).*/\1/p' | head -n 1)
expect 0 'chains agree' "$ztp" info good
"$ztp" fit $fit --chains 4 --sweeps "$sweeps" --out plain >/dev/null 2>&1
cmp good/draws.nc plain/draws.nc || { echo "FAILED: not the draws of a fit of $sweeps sweeps"; failed=1; }

# Noise, with far more components than it needs: the time is up first. More sweeps can be asked for.
"$ztp" simulate --dims 60,60,60 --ones 4000 --rank 40 --kind model --seed 4 --out noise >/dev/null
expect 0 'the time is up (--at-most 1s), and the chains do not agree on predictions yet' \
  "$ztp" fit noise/tensor.tsv --rank 20 --chains 4 --holdout 0.1 --until converged --at-most 1s --out noisy
grep -q "Have the chains converged? No.*ztp resume noisy --sweeps" out.txt ||
  { echo "FAILED: the verdict does not name the command that continues"; failed=1; }
more=$(($("$ztp" info noisy --json | sed -n 's/.*"sweeps": *\([0-9]*\).*/\1/p' | head -n 1) + 10))
expect 0 "of $more sweeps" "$ztp" resume noisy --sweeps $more

# Interrupted in a round and resumed: it goes on to the same kind of end.
"$ztp" fit noise/tensor.tsv --rank 20 --chains 4 --holdout 0.1 --until converged --at-most 3s --out stopped \
  >/dev/null 2>&1 &
interrupt $! stopped 100
expect 0 'the time is up (--at-most 3s)' "$ztp" resume stopped

expect 4 '--until converged needs --chains 2 or more' "$ztp" fit $fit --chains 1 --until converged --out none
expect 4 'online chains do not sample the posterior' "$ztp" fit $fit --method online --until converged --out none
expect 2 '--at-most has no effect without --until converged' "$ztp" fit $fit --at-most 5m --out none
expect 4 '--at-most soon' "$ztp" fit $fit --until converged --at-most soon --out none
finish
