#!/bin/sh
# Flags that the other tests have no use for: each has the effect that its help promises.
. "$2/tests/cli/common.sh.inc"

fail() {
  echo "FAILED: $*"
  failed=1
}
# json FILE 'EXPRESSION': of `it`, each line of the file that is an object, or of the whole file; true.
json() {
  python3 - "$1" "$2" <<'END' || fail "$2 does not hold in $1: $(head -c 600 "$1")"
import json, sys
text = open(sys.argv[1]).read()
try:
    it = json.loads(text)
except ValueError:
    it = [json.loads(line) for line in text.splitlines()]
sys.exit(not eval(sys.argv[2]))
END
}
command -v python3 >/dev/null 2>&1 || { echo "no python3: skipped"; exit 77; }

# ---- simulate --------------------------------------------------------------------------------------------------------
"$ztp" simulate --dims 40,30,20 --ones 1500 --rank 3 --seed 3 --json --out sim >out.json
json out.json 'it["ones"] == 1500 and it["points"] >= 1500'
# Columns of a small Dirichlet parameter have a few large entries: the first entity by ones has more of them.
busiest() { cut -f1 "$1/tensor.tsv" | grep -v '^#' | sort | uniq -c | sort -rn | awk 'NR == 1 { print $1 }'; }
for a in 0.05 100; do
  "$ztp" simulate --dims 400,300 --ones 2000 --rank 2 --seed 3 --kind model --dirichlet $a --out model-$a >/dev/null
done
[ "$(busiest model-0.05)" -gt $((3 * $(busiest model-100))) ] ||
  fail "--dirichlet: $(busiest model-0.05) and $(busiest model-100)"
expect 0 '900 ones' "$ztp" simulate --dims 400,300 --ones 900 --rank 2 --out model-100 --force
[ "$(grep -vc '^#' model-100/tensor.tsv)" -eq 900 ] || fail "simulate --force left the old ones"

# ---- split -----------------------------------------------------------------------------------------------------------
awk -F '\t' 'BEGIN { OFS = "\t" } /^#/ { next } { print $1, $2, $3, NR % 4 + 1 }' sim/tensor.tsv >counts.tsv
"$ztp" split counts.tsv --likelihood count --holdout 0.2 --zeros-per-one 2 --json --out parts >out.json
json out.json 'it["train_ones"] == 1200 and it["test_ones"] == 300 and it["test_zeros"] == 600'
grep -v '^#' parts/train.tsv | sort >train.txt
sort counts.tsv | comm -13 - train.txt >other.txt
[ "$(wc -l <train.txt)" -eq 1200 ] && [ ! -s other.txt ] || fail "split --likelihood count does not keep the counts"
expect 0 '1,350' "$ztp" split sim/tensor.tsv --holdout 0.1 --out parts --force
[ "$(grep -vc '^#' parts/train.tsv)" -eq 1350 ] || fail "split --force left the old files"

# ---- fit: what was not observed is no zero ---------------------------------------------------------------------------
# Users and items in two blocks; of the even block, the cells of user u0 with i0 to i14 are missing, or not there and so
# zeros.
awk 'BEGIN { for (u = 0; u < 20; u++) for (i = 0; i < 30; i++)
  if (u % 2 == i % 2 && !(u == 0 && i < 15)) print "u" u "\ti" i }' >ones.tsv
awk 'BEGIN { for (i = 0; i < 15; i++) print "u0\ti" i }' >cells.tsv
mean() { "$ztp" predict "$1" "$2" | awk -F '\t' '!/^#/ { s += $3; n++ } END { print s / n }'; }
larger() { awk "BEGIN { exit !($1 > $2) }" || fail "$3: $1 is not above $2"; }
awk 'BEGIN { for (i = 0; i < 15; i += 2) print "u0\ti" i }' >even.tsv
fit="--rank 4 --sweeps 200 --threads 2 --chains 1"
expect 0 'draws' "$ztp" fit ones.tsv $fit --out zeros
expect 0 'draws' "$ztp" fit ones.tsv $fit --missing cells.tsv --out missing
expect 0 '"missing_cells": 15' "$ztp" info missing --json
larger "$(mean missing even.tsv)" "2 * $(mean zeros even.tsv)" "--missing"
# u20 has no edges: not one of its pairs is an edge, or not one was observed.
{ cat ones.tsv; printf 'u20\ti0\nu20\ti1\n'; } >more.tsv
awk 'BEGIN {
  for (u = 0; u < 18; u += 2) print "u" u "\tu" u + 2
  for (u = 1; u < 18; u += 2) print "u" u "\tu" u + 2
}' >net.tsv
awk 'BEGIN { for (u = 0; u < 20; u++) print "u20\tu" u }' >pairs.tsv
expect 0 'draws' "$ztp" fit more.tsv $fit --network mode1=net.tsv --out no_pairs
expect 0 'draws' "$ztp" fit more.tsv $fit --network mode1=net.tsv --missing-pairs mode1=pairs.tsv --out pairs
expect 0 '"missing_pairs": 20' "$ztp" info pairs --json
cmp -s pairs/draws.nc no_pairs/draws.nc && fail "--missing-pairs makes no difference"

# ---- fit: seed, zeros for each held-out one, first index -------------------------------------------------------------
for seed in 1 2; do "$ztp" fit sim/tensor.tsv --rank 3 --sweeps 10 --seed $seed --out seed-$seed >/dev/null 2>&1; done
cmp -s seed-1/draws.nc seed-2/draws.nc && fail "--seed makes no difference"
expect 0 'draws' "$ztp" fit sim/tensor.tsv --rank 3 --sweeps 10 --holdout 0.1 --zeros-per-one 2 --out held
[ "$(grep -c '	1$' held/test.tsv)" -eq 150 ] && [ "$(grep -c '	0$' held/test.tsv)" -eq 300 ] ||
  fail "--zeros-per-one of fit"
printf '0 0 1\n1 2 1\n2 1 1\n0 2 1\n' >from_zero.tns
expect 0 'draws' "$ztp" fit from_zero.tns --index-base 0 --rank 2 --sweeps 10 --out from_zero
printf '0\t2\n' >cell.tsv
expect 0 '0	2	0.' "$ztp" predict from_zero cell.tsv
expect 0 'ones        4 of 9 cells' "$ztp" check from_zero.tns --index-base 0

# A large ridge leaves nothing of the factors: every cell has the same probability.
spread() { "$ztp" fit sim/tensor.tsv --model quad --rank 3 --sweeps 20 --ridge $1 --out quad-$1 >/dev/null 2>&1; \
  "$ztp" predict quad-$1 sim/tensor.tsv |
  awk -F'\t' 'NR == 2 { low = high = $4 }
    NR > 1 { if ($4 < low) low = $4; if ($4 > high) high = $4 } END { print high - low }'; }
larger "$(spread 0.01)" 0.5 "--ridge"
[ "$(spread 1000)" = 0 ] || fail "--ridge: a large one leaves factors"

# ---- check -----------------------------------------------------------------------------------------------------------
expect 0 'at rank 7' "$ztp" check sim/tensor.tsv --method online --minibatch 100 --rank 7 --sweeps 30 --chains 2 \
  --holdout 0.1
estimate() { "$ztp" check sim/tensor.tsv --rank 7 --json "$@" >out.json; python3 \
  -c 'import json; print(json.load(open("out.json"))["fit"]["'"$field"'"])'; }
field=draws
[ "$(estimate --sweeps 30 --chains 1)" -eq 15 ] && [ "$(estimate --sweeps 30 --chains 2)" -eq 30 ] ||
  fail "check --sweeps and --chains"
# The size of the run directory, within a quarter of what a fit makes: with packed draws, held-out cells, online.
disk() { # FILE FLAGS...
  file=$1
  shift
  rm -rf disk
  announced=$("$ztp" check "$file" --json "$@" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["fit"]["run_directory_bytes"])')
  "$ztp" fit "$file" "$@" --out disk >/dev/null 2>&1
  found=$(find disk -type f -exec cat {} + | wc -c)
  awk "BEGIN { ratio = $announced / $found; exit !(ratio > 0.8 && ratio < 1.25) }" ||
    fail "check $*: $announced bytes were announced, and the run directory has $found"
}
"$ztp" simulate --dims 3000,2000,50 --ones 20000 --rank 5 --no-truth --out wide >/dev/null
disk wide/tensor.tsv --rank 100 --sweeps 10 --chains 1
disk wide/tensor.tsv --rank 100 --sweeps 10 --chains 1 --holdout 0.1
disk wide/tensor.tsv --rank 30 --sweeps 40 --chains 1 --method online
expect 0 'in the run directory' "$ztp" check sim/tensor.tsv --rank 7
# A fit says it, too, if it is above 1 GB.
"$ztp" fit wide/tensor.tsv --rank 200 --draws 2000 --sweeps 4000 --chains 1 --out huge >huge.txt 2>&1 &
interrupt $! huge 2
grep -qE '^The run directory will take about [1-9].*GiB' huge.txt || fail "fit does not tell of a large run directory"
rm -rf huge
"$ztp" fit wide/tensor.tsv --rank 2 --sweeps 4 --chains 1 --out small 2>&1 | grep 'The run directory' &&
  fail "fit tells of a small run directory"

# Memory is estimated on top of what the process has, which differs by some 100 KB from run to run: data that make a
# megabyte of difference. Sanitizers keep memory of their own.
if [ -z "${ZTP_SANITIZE:-}" ]; then
  "$ztp" simulate --dims 3000 2000 1000 --ones 400000 --rank 3 --no-truth --out large >/dev/null
  rank=7
  memory() { "$ztp" check large/tensor.tsv --rank $rank --json "$@" |
    python3 -c 'import json, sys; print(round(json.load(sys.stdin)["fit"]["memory_bytes"] / 1e6))'; }
  [ "$(memory --holdout 0.5)" -gt $(($(memory) + 20)) ] || fail "check --holdout"
  rank=40  # at a low rank, reading takes more memory than either way of sampling
  [ "$(memory --method online)" -gt $(($(memory) + 2)) ] || fail "check --method"
  [ "$(memory --method online --minibatch 400000)" -gt "$(memory --method online --minibatch 10)" ] ||
    fail "check --minibatch"
fi

# Two modes with the same entities: check says so, with flags that fit takes as they are.
printf '#sent by\tto\nann\tbob\nbob\tcid\ncid\tann\nann\tcid\n' >mail.tsv
expect 0 "have 3 labels in common, of 3 and 3; none of the ones has the same label in both." "$ztp" check mail.tsv
expect 0 "fit with --tie 'sent by=to' --self-cells missing" "$ztp" check mail.tsv
"$ztp" check mail.tsv --json >out.json
json out.json 'it["same_entities"]["shared"] == 3 and it["fit"]["rank"] == 25 and it["fit"]["columns"] == []'
expect 0 'a fit at rank 60 and --columns sent by=3,to=3' "$ztp" check mail.tsv --tie 'sent by=to' --self-cells missing
expect 0 'a fit at rank 20 and --columns sent by=1,to=1' \
  "$ztp" check mail.tsv --tie 'sent by=to' --self-cells zero --columns 1
"$ztp" check mail.tsv --tie 'sent by=to' --self-cells missing --json >out.json
json out.json 'it["same_entities"] is None and it["fit"]["rank"] == 60'
printf 'ann\tann\n' >>mail.tsv
expect 0 "1 of the ones has the same label in both." "$ztp" check mail.tsv
expect 0 "fit with --tie 'sent by=to' --self-cells zero" "$ztp" check mail.tsv

# ---- predict and components ------------------------------------------------------------------------------------------
"$ztp" fit ones.tsv ${fit%1}2 --out chains >/dev/null 2>&1
"$ztp" predict chains even.tsv --json >out.json
json out.json 'len(it) == 8 and all(0 <= cell["q05"] <= cell["probability"] <= cell["q95"] <= 1 for cell in it)'
for chain in 1 2; do "$ztp" components chains --chain $chain --json >chain-$chain.json; done
cmp -s chain-1.json chain-2.json && fail "components --chain makes no difference"
"$ztp" components chains --json | cmp - chain-1.json || fail "components are not those of the first chain"
# With several chains there is a stability: of components that are not empty.
json chain-1.json 'it and all(0 <= c["stability"] <= 1 for c in it)'
"$ztp" components chains --all --json >out.json
json out.json 'all((c["stability"] is None) == (c["weight"] < 0.5) for c in it)'
[ "$("$ztp" components chains --all | grep -cE '^component .*, stability (-|[01]\.[0-9][0-9])$')" -eq 4 ] ||
  fail "components prints no stability"
"$ztp" fit ones.tsv $fit --out single >/dev/null 2>&1
"$ztp" components single --json >out.json
json out.json 'it and all(c["stability"] is None for c in it)'
"$ztp" components single | grep -q stability && fail "components of one chain have no stability"
"$ztp" components chains --mode mode2 >out.txt
grep -q 'mode2' out.txt && ! grep -q 'mode1' out.txt || fail "components --mode prints other modes"

# ---- recommend -------------------------------------------------------------------------------------------------------
"$ztp" simulate --dims 20,15,4 --ones 300 --rank 3 --seed 3 --mode-names user,item,day --no-truth --out shop >/dev/null
printf '3\n' >users.txt
awk -F '\t' '/^#/ || $1 != 3' shop/tensor.tsv >seen.tsv
printf '4\t2\t1\n5\t2\t1\n' >hidden.tsv
grep -vFf hidden.tsv seen.tsv >shop.tsv
"$ztp" fit shop.tsv --labels shop/labels --missing-slices user=users.txt --missing hidden.tsv --rank 4 --sweeps 100 \
  --chains 1 --out shop-run >/dev/null 2>&1
"$ztp" recommend shop-run user=1 --mode item --top 100 --json >out.json 2>/dev/null
json out.json 'len({row["entity"]["item"] for row in it}) == len(it) == 15'
json out.json 'all(row["ones"] + row["cells"] == 4 and not row["missing"] for row in it)'
json out.json 'all(a["probability"] >= b["probability"] for a, b in zip(it, it[1:]))'
"$ztp" recommend shop-run user=1 --mode item --only-new item --top 100 --json >new.json 2>/dev/null
json new.json 'it and all(row["ones"] == 0 for row in it)'
[ "$(wc -l <new.json)" -eq "$(grep -c '"ones":0' out.json)" ] || fail "--only-new leaves out others"
"$ztp" recommend shop-run user=1 --distinct item --top 100 --json >out.json 2>/dev/null
json out.json 'len({row["cell"]["item"] for row in it}) == len(it) == 15'
"$ztp" recommend shop-run user=1 --top 1 >best.txt 2>/dev/null
item=$(awk -F '\t' '!/^#/ { print $2 }' best.txt)
"$ztp" recommend shop-run user=1 --top 60 --exclude item="$item" >out.txt 2>/dev/null
awk -F '\t' -v item="$item" '!/^#/ && $2 == item { bad = 1 } END { exit bad }' out.txt || fail "--exclude MODE=LABEL"
{ grep -v '^#' best.txt | cut -f1-3; printf '1\tnobody\t1\n'; } >cells.tsv
"$ztp" recommend shop-run user=1 --top 60 --exclude cells.tsv >out.txt 2>warned.txt
grep -qF "$(head -1 cells.tsv)" out.txt && fail "--exclude FILE"
grep -q 'cells.tsv: 1 line was skipped, because the run has no entity of that name: item "nobody"' warned.txt ||
  fail "--exclude FILE: a label that the run does not have"
# Cells that were declared missing are marked; a run without any has no such column.
"$ztp" recommend shop-run --top 2000 2>/dev/null >out.txt
[ "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "missing") at = i } $at == "yes" && $1 == 3' out.txt |
  wc -l)" -eq 60 ] || fail "a missing slice is not marked"
[ "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "missing") at = i } $at == "yes" && $1 != 3' out.txt |
  wc -l)" -eq 2 ] || fail "missing cells are not marked"
"$ztp" recommend chains --top 1 2>/dev/null | grep -q missing && fail "recommend: nothing is missing"
# Counts have rates.
"$ztp" fit counts.tsv --likelihood count --rank 3 --sweeps 60 --chains 1 --out counted >/dev/null 2>&1
"$ztp" recommend counted --top 3 --json >out.json 2>/dev/null
json out.json 'len(it) == 3 and all(row["rate"] > row["probability"] for row in it)'
"$ztp" recommend counted --top 1 2>/dev/null | head -1 | grep -q 'q95	rate	why' || fail "recommend: no rates of counts"

# ---- lines with unknown labels ---------------------------------------------------------------------------------------
printf 'u2\ti0\t1\nnobody\ti0\t1\nu2\ti1\t0\nu2\tnothing\t0\nnobody\ti3\t1\n' >unknown.tsv
printf 'u2\ti0\t1\nu2\ti1\t0\n' >known.tsv
expect 3 'unknown.tsv:2:1: unknown mode1 "nobody": not among the 20 entities of mode mode1; to predict entities without' \
  "$ztp" evaluate chains unknown.tsv
grep -qF "; 'ztp evaluate' and 'ztp predict' skip such lines with --skip-unknown" out.txt || fail "no word of --skip-unknown"
for question in "evaluate chains FILE --head 5 --json" "evaluate chains FILE --ranking --json" "predict chains FILE"; do
  "$ztp" $(echo $question | sed s/FILE/known.tsv/) >known.txt 2>/dev/null
  "$ztp" $(echo $question | sed s/FILE/unknown.tsv/) --skip-unknown >unknown.txt 2>warned.txt
  cmp -s known.txt unknown.txt || fail "$question --skip-unknown"
  [ "$(grep -c '3 lines were skipped, because the run has no entity of that name: mode1 "nobody", mode2 "nothing", ...' \
    warned.txt)" -eq 1 ] || fail "$question --skip-unknown does not tell"
done
printf 'nobody\ti0\t1\n' >unknown.tsv
expect 3 'no line is left' "$ztp" evaluate chains unknown.tsv --skip-unknown
"$ztp" simulate --dims 5,5 --ones 10 --rank 1 --no-truth --out few >/dev/null
"$ztp" fit few/tensor.tsv --rank 1 --sweeps 10 --chains 1 --out few-run >/dev/null 2>&1
printf '1 1 1\n9 1 1\n2 77 1\n' >cells.tns
[ "$("$ztp" predict few-run cells.tns --skip-unknown 2>/dev/null | grep -vc '^#')" -eq 1 ] ||
  fail "predict --skip-unknown: indices"

# ---- answers in little memory ----------------------------------------------------------------------------------------
awk '{ print $0 "\t" NR % 2 }' even.tsv >outcomes.tsv
for question in "predict chains even.tsv" "evaluate chains outcomes.tsv" "recommend chains mode1=u2" \
  "evaluate chains outcomes.tsv --ranking all"; do
  "$ztp" $question >all.txt
  "$ztp" $question --memory 20M >some.txt || fail "$question --memory 20M"
  cmp -s all.txt some.txt || fail "$question --memory 20M: other numbers"
done
expect 4 '--memory much' "$ztp" predict chains even.tsv --memory much

# ---- resume ----------------------------------------------------------------------------------------------------------
"$ztp" fit ones.tsv --rank 4 --sweeps 200000 --draws 50 --checkpoint 2h --out long >/dev/null 2>&1 &
interrupt $! long 20
"$ztp" resume long --checkpoint 10 --sweeps 200001 >/dev/null 2>&1 &
pid=$!
while [ "$(wc -l <long/trace.tsv)" -lt 400 ] && kill -0 $pid 2>/dev/null; do sleep 0.02; done
kill -KILL $pid
wait $pid 2>/dev/null || true
[ -e long/checkpoint-1-a.bin ] && [ -e long/checkpoint-1-b.bin ] ||
  fail "resume --checkpoint: no two checkpoints after so many sweeps"
expect 4 'and --memory allows 1.0 MiB' "$ztp" resume long --memory 1M
"$ztp" resume chains --sweeps 210 --memory 8G --json >out.json 2>/dev/null
json out.json 'it["status"] == "complete" and it["sweeps"] == 210'

# ---- update ----------------------------------------------------------------------------------------------------------
awk 'BEGIN { for (i = 0; i < 30; i += 2) print "u30\ti" i }' >new.tsv
"$ztp" update chains new.tsv --draws 6 --minibatch 5 --sweeps 30 --json --out updated >out.json 2>/dev/null
json out.json 'it["ones"] == 15'
"$ztp" info updated --json >out.json
json out.json 'it["draws"] == 6'
"$ztp" update chains new.tsv --draws 6 --minibatch 15 --sweeps 30 --out at_once >/dev/null 2>&1
cmp -s updated/draws.nc at_once/draws.nc && fail "update --minibatch makes no difference"
finish
