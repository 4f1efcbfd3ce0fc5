#!/bin/sh
# Eight threads, more than most machines that build this have cores, make the draws that one makes; and under the thread
# sanitizer nothing is touched by two of them at once.
. "$2/tests/cli/common.sh.inc"

"$ztp" simulate --dims 300,200,20 --ones 6000 --rank 4 --seed 3 --out sim >/dev/null
"$ztp" convert sim/tensor.tsv sim.ztpt --labels sim/labels >/dev/null
awk 'BEGIN {
  print "#mode1\tmode1"
  for (i = 1; i <= 300; i++) for (j = 1; j < 4; j++) print i "\t" (i * 7 + j * 31) % 300 + 1
}' >net.tsv
{ seq 1 300; echo unseen; } >labels.txt
echo unseen >slices.txt

# both NAME FLAGS...: a fit with eight threads and with one.
both() {
  name=$1
  shift
  for threads in 8 1; do
    expect 0 " in $name-$threads" "$ztp" fit "$@" --threads $threads --out "$name-$threads"
  done
  cmp "$name-8/draws.nc" "$name-1/draws.nc" || failed=1
  expect 0 'probability' "$ztp" predict "$name-8" sim/tensor.tsv --threads 8
  cp out.txt eight.txt
  expect 0 'probability' "$ztp" predict "$name-8" sim/tensor.tsv --threads 1
  cmp eight.txt out.txt || failed=1
}
both plain sim/tensor.tsv --chains 2 --rank 20 --sweeps 12 --sampler plain --holdout 0.1 --holdout-as missing \
  --learn dirichlet,gamma-shape
both network sim/tensor.tsv --labels mode1=labels.txt --missing-slices mode1=slices.txt --network mode1=net.tsv \
  --rank 20 --sweeps 8 --chains 2
both wide sim/tensor.tsv --chains 1 --rank 700 --sweeps 3 --sampler plain
both online sim/tensor.tsv --labels mode1=labels.txt --network mode1=net.tsv --rank 20 --sweeps 30 --minibatch 500 \
  --method online --latent sample --chains 1
both file sim.ztpt --chains 1 --rank 20 --sweeps 30 --minibatch 500 --method online --parameters mean --latent mean \
  --holdout 0.05
both logistic sim/tensor.tsv --chains 1 --rank 5 --sweeps 4 --model logistic
both quad sim/tensor.tsv --rank 5 --sweeps 20 --model pwquad --blocks 16
expect 0 'new ones' sh \
  -c 'head -200 sim/tensor.tsv | sed "s/^[0-9]*/new/" >new.tsv; "$1" update plain-8 new.tsv --threads 8' - "$ztp"
expect 0 'ones' "$ztp" check sim/tensor.tsv --threads 8
expect 0 'mode1' "$ztp" recommend network-8 mode1=unseen --top 3 --threads 8
finish
