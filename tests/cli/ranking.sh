#!/bin/sh
# ztp evaluate --ranking, from the outside. What it refuses: tests/bad_inputs.
. "$2/tests/cli/common.sh.inc"

"$ztp" simulate --dims 60,50,40 --ones 6000 --rank 4 --seed 3 --out sim >/dev/null
"$ztp" split sim/tensor.tsv --holdout 0.1 --seed 1 --out parts >/dev/null
"$ztp" fit parts/train.tsv --labels parts/labels --test parts/test.tsv --rank 8 --sweeps 100 --chains 1 \
  --out run >/dev/null 2>&1

expect 0 '600 test ones, 50 draws' "$ztp" evaluate run --ranking all
[ "$(sed -n 's/^replaced *//p' out.txt | tr -s ' ')" = "mode1 mode2 mode3 all popularity" ] ||
  { echo "FAILED: columns"; failed=1; }
[ "$(awk '{print $1}' out.txt | sed 1d | tr '\n' ' ')" = "replaced ranks MRR mean Hits@1 Hits@3 Hits@10 queries \
recall@1 recall@3 recall@10 NDCG@1 NDCG@3 NDCG@10 " ] || { echo "FAILED: rows"; cat out.txt; failed=1; }
cp out.txt held_out.txt
expect 0 'MRR' "$ztp" evaluate run parts/test.tsv --ranking mode1,mode2,mode3 --threads 1
cmp out.txt held_out.txt || { echo "FAILED: held-out cells and the file that they came from differ"; failed=1; }

# A file of ones alone is the same: zeros are ignored.
grep -v '^#' parts/test.tsv | awk -F'\t' '$4 == 1 {print $1 "\t" $2 "\t" $3}' >ones.tsv
expect 0 '"test_ones":600,"draws":50,"modes":{"mode3":{"ranks":600,"mrr":0.' "$ztp" evaluate run ones.tsv \
  --ranking mode3 --at 5,20 --json
grep -q '"hits":{"5":0\.[0-9]*,"20":0\.' out.txt || { echo "FAILED: --at"; failed=1; }
cp out.txt ones.txt
"$ztp" evaluate run parts/test.tsv --ranking mode3 --at 5,20 --json | cmp - ones.txt || failed=1
awk 'BEGIN {exit !('"$(sed 's/.*"hits":{"5":[0-9.]*,"20":\([0-9.]*\).*/\1/' ones.txt)"' > 0.5)}' ||
  { echo "FAILED: fewer hits among 20 of 40 than chance on planted data"; failed=1; }

# Fewer rivals, better ranks; fewer draws, other ranks.
mean_rank() { "$ztp" evaluate run ones.tsv --ranking mode3 --json "$@" |
  sed 's/.*"all":.*"mean_rank":\([0-9.]*\).*/\1/'; }
awk "BEGIN {exit !($(mean_rank --filter sim/tensor.tsv) <= $(mean_rank))}" ||
  { echo "FAILED: --filter of known ones"; failed=1; }
awk 'NR % 2' ones.tsv >half.tsv
awk '!(NR % 2)' ones.tsv >other.tsv
mean_rank_half() { "$ztp" evaluate run half.tsv --ranking mode3 --json "$@" |
  sed 's/.*"all":.*"mean_rank":\([0-9.]*\).*/\1/'; }
awk "BEGIN {exit !($(mean_rank_half --filter other.tsv) < $(mean_rank_half))}" || { echo "FAILED: --filter"; failed=1; }
expect 0 '7 draws' "$ztp" evaluate run ones.tsv --ranking mode3 --draws 7
finish
