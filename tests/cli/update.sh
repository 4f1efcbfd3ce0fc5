#!/bin/sh
# ztp update: new ones, edges and entities in a run that every command then knows. What is refused, and changes nothing:
# tests/bad_inputs.
. "$2/tests/cli/common.sh.inc"

fail() {
  echo "FAILED: $*"
  failed=1
}
sums() {
  find "$1" -type f -exec cksum {} + | sort
}
# mean RUN CELLS: of the probabilities that are predicted.
mean() {
  "$ztp" predict "$1" "$2" | awk -F '\t' '!/^#/ { s += $3; n++ } END { print s / n }'
}
# in_block RUN USER PARITY: the user is likelier, by far, with the items of the block.
in_block() {
  awk -v u="$2" 'BEGIN { for (i = 0; i < 30; i += 2) print u "\ti" i }' >even.tsv
  awk -v u="$2" 'BEGIN { for (i = 1; i < 30; i += 2) print u "\ti" i }' >odd.tsv
  even=$(mean "$1" even.tsv)
  odd=$(mean "$1" odd.tsv)
  [ "$3" -eq 0 ] && ratio="$even / $odd" || ratio="$odd / $even"
  awk "BEGIN { exit !($ratio > 2) }" || fail "$2 in $1 has $even with even items and $odd with odd ones"
}

expect 0 'Example' "$ztp" update --help
# Users and items in two blocks, even and odd; four of five cells in a block are ones. The run has the users up to 39.
awk 'BEGIN {
  for (u = 0; u < 44; u++)
    for (i = 0; i < 30; i++)
      if (u % 2 == i % 2 && (3 * u + int(i / 2)) % 5)
        print "u" u "\ti" i "\t" (u < 40 ? "old" : u < 42 ? "new" : "later")
}' >all.txt
for part in old new later; do
  { printf '#user\titem\n'; awk -F '\t' -v p=$part '$3 == p { print $1 "\t" $2 }' all.txt; } >$part.tsv
done
awk 'BEGIN { print "#user\tuser"; for (u = 0; u < 38; u++) print "u" u "\tu" u + 2 }' >friends.tsv
"$ztp" fit old.tsv --network user=friends.tsv --rank 4 --sweeps 200 --holdout 0.1 --chains 2 --out run >/dev/null 2>&1

sums run >before.txt

# New ones, with old ones among them, into another directory, and then into the run itself.
{ cat new.tsv; grep '^u3	' old.tsv; } >today.tsv
held_out=$(grep -c '^u3	.*	1$' run/test.tsv || true)
expect 0 "$((24 + held_out)) new ones, $((12 - held_out)) already known" "$ztp" update run today.tsv --sweeps 50 \
  --out other
grep -q "warning: $held_out held-out cells are among the new ones" out.txt ||
  fail "held-out ones that are none any more"
grep -q '2 new entities of mode user' out.txt || fail "the new entities are not counted"
grep -qi 'nan' out.txt && fail "a number that is none: $(grep -i nan out.txt)"
sums run >after.txt
cmp before.txt after.txt || fail "--out changed the run"
expect 0 'update with --sweeps 100' "$ztp" diagnose other
in_block other u40 0
in_block other u41 1
in_block other u3 1
expect 0 '"new_entities":{"user":2,"item":0}' "$ztp" update run/ new.tsv --json
printf '#from\tto\nu42\tu1\nu42\tu3\nu42\tu5\nu42\tu7\nu42\tu42\n' >edges.tsv
expect 0 '0 new ones, 0 already known; 4 new edges, 0 already known' "$ztp" update run --network user=edges.tsv \
  --sweeps 100
expect 0 '"updates": 2' "$ztp" info run --json
[ "$(ls -d run* | wc -l)" -eq 1 ] || fail "left behind: $(ls -d run*)"

# Every command knows the new entities.
in_block run u40 0
in_block run u42 1
expect 0 'probability' "$ztp" recommend run user=u41 --top 3
[ "$(grep -vcE '^(#|ztp: warning)' out.txt)" -eq 3 ] || fail "recommend printed another number of cells"
item=$(awk -F '\t' '!/^#/ { print $2; exit }' out.txt)
grep -q "^u41	$item\$" new.tsv && fail "u41 $item is a one, and recommended"
expect 0 '"auc_roc"' "$ztp" evaluate run --json
expect 0 'component' "$ztp" components run --top 2
expect 0 'updates      2' "$ztp" info run
grep -qi 'nan' out.txt && fail "info prints a number that is none"
expect 0 'occupied rank' "$ztp" diagnose run
grep -q 'verdict: too short' out.txt && fail "100 sweeps are enough to judge"
grep -q 'Do not interpret yet: log-likelihood' out.txt && fail "diagnose judges a log-likelihood that there is not"
expect 0 '"verdict"' "$ztp" diagnose run --json
expect 0 '"log_likelihood": null' cat run/status.json
expect 0 'Nothing to do' "$ztp" resume run

# Ctrl-C leaves the run as it was, and nothing beside it.
sums run >before.txt
"$ztp" update run later.tsv --sweeps 1000000 >log.txt 2>&1 &
pid=$!
under_way() {
  while kill -0 $pid 2>/dev/null && [ "$(wc -l 2>/dev/null <".$1.ztp-partial-$pid/trace.tsv" || echo 0)" \
    -lt 20 ]; do sleep 0.02; done
}
under_way run
expect 4 'another ztp is writing to this run directory' "$ztp" update run later.tsv
kill -INT $pid
code=0
wait $pid || code=$?
[ "$code" -eq 130 ] || fail "exit code $code after SIGINT"
grep -q 'Interrupted; run is unchanged' log.txt || fail "does not say that the run is as it was"
sums run >after.txt
cmp before.txt after.txt || fail "an interruption changed the run"
[ "$(ls -d run* | wc -l)" -eq 1 ] || fail "left behind: $(ls -d run*)"

# One that is killed leaves the run as it was, and what it leaves beside it goes with the next.
cp -r run killed
sums killed >before.txt
"$ztp" update killed later.tsv --sweeps 1000000 >log.txt 2>&1 &
pid=$!
under_way killed
kill -KILL $pid
wait $pid 2>/dev/null || true
[ -d ".killed.ztp-partial-$pid" ] || fail "the update was not killed in its middle"
sums killed >after.txt
cmp before.txt after.txt || fail "a killed update changed the run"
expect 0 'new ones' "$ztp" update killed later.tsv
[ "$(ls -dA killed* .killed* 2>/dev/null | wc -l)" -eq 1 ] || fail "left behind: $(ls -dA killed* .killed*)"
expect 4 'has been updated, so it cannot be resumed' "$ztp" resume killed --sweeps 5000

# A run whose ones stay in their file: known ones are found there, too, and what is new is kept beside it.
"$ztp" convert old.tsv old.ztpt >/dev/null
"$ztp" fit old.ztpt --method online --rank 4 --sweeps 200 --chains 1 --minibatch 100 --out stream >/dev/null 2>&1
expect 0 '"known_ones":12' "$ztp" update stream today.tsv --json
"$ztp" convert later.tsv later.ztpt >/dev/null
expect 0 '24 new ones, 0 already known' "$ztp" update stream later.ztpt
expect 3 'nothing in it is new; stream has all of it already' "$ztp" update stream new.tsv
expect 0 '"updates": 2' "$ztp" info stream --json
for user in 3 40 41 42 43; do in_block stream u$user $((user % 2)); done
expect 0 'probability' "$ztp" recommend stream user=u43 --top 3
cut -f2 out.txt >recommended.txt
grep '^u43	' later.tsv | cut -f2 | grep -qxFf - recommended.txt && fail "a one of the update is recommended"
expect 0 'verdict' "$ztp" diagnose stream

# Counts of cells in the file grow.
sed 's/$/\t2/;1s/\t2$//' old.tsv >old-counts.tsv
printf '#user\titem\nu0\ti2\t7\nu50\ti2\t3\n' >new-counts.tsv
"$ztp" convert old-counts.tsv counts.ztpt --likelihood count >/dev/null
"$ztp" fit counts.ztpt --likelihood count --method online --rank 4 --sweeps 200 --chains 1 --minibatch 100 \
  --out counts \
  >/dev/null 2>&1
expect 0 '2 new ones, 0 already known' "$ztp" update counts new-counts.tsv
expect 0 '"total_count": 970' "$ztp" info counts --json
expect 0 'u50' "$ztp" recommend counts user=u50 --top 3

# Numbered modes grow to the largest number.
printf '1 1 1\n2 2 1\n3 1 1\n3 3 1\n' >small.tns
printf '5 1 1\n' >more.tns
"$ztp" fit small.tns --rank 2 --sweeps 40 --out numbers >/dev/null 2>&1
expect 0 '2 new entities of mode mode1' "$ztp" update numbers more.tns
expect 0 'probability' "$ztp" recommend numbers mode1=5 --top 1
finish
