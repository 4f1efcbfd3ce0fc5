#!/bin/sh
# Every command, from the outside, with the numbers it must print.
. "$2/tests/cli/common.sh.inc"

for command in check convert split simulate fit resume update predict evaluate diagnose components recommend info; do
  expect 0 'Example' "$ztp" "$command" --help
done
expect 0 'Examples' "$ztp" --help
expect 0 'ztp 1.' "$ztp" --version

"$ztp" simulate --dims 60,50,40 --ones 6000 --rank 4 --seed 3 --out sim >/dev/null
[ "$(grep -vc '^#' sim/tensor.tsv)" -eq 6000 ] || { echo "FAILED: simulate wrote another number of ones"; failed=1; }
"$ztp" split sim/tensor.tsv --holdout 0.1 --seed 1 --out parts >/dev/null
expect 0 '"ones":600,"zeros":3000' sh -c '
  "$1" fit parts/train.tsv --labels parts/labels --test parts/test.tsv --rank 8 --sweeps 200 --chains 1 --out run \
    >log.txt 2>&1 || exit
  "$1" evaluate run parts/test.tsv --json' - "$ztp"
grep -q 'sweep 200/200' log.txt || { echo "FAILED: no plain progress lines when piped"; failed=1; }
auc=$("$ztp" evaluate run --json | sed 's/"popularity".*//; s/.*"auc_roc":\([0-9.]*\).*/\1/')
awk "BEGIN { exit !($auc > 0.85) }" || { echo "FAILED: AUC-ROC $auc on planted data"; failed=1; }
# Test cells without zeros, with a single one: scores that do not exist, and why.
grep -v '^#' sim/tensor.tsv | head -1 | sed 's/$/\t1/' >single.tsv
expect 0 'there are no zeros among the test cells' "$ztp" evaluate run single.tsv --head 0
grep -q '^AUC-ROC  *not defined' out.txt && grep -q '^AUC-PR  *not defined' out.txt &&
  ! grep -qw nan out.txt || { echo "FAILED: an AUC without zeros"; failed=1; }
expect 0 '"auc_roc":null,"auc_pr":null,' "$ztp" evaluate run single.tsv --head 0 --json
expect 0 'and the other scores are those of the zeros alone' sh -c '
  sed "s/1$/0/" single.tsv >zero.tsv; exec "$1" evaluate run zero.tsv' - "$ztp"
# All modes, where none is named.
"$ztp" evaluate run --ranking >bare.txt
"$ztp" evaluate run --ranking all | cmp - bare.txt || { echo "FAILED: --ranking without modes"; failed=1; }
expect 2 'the modes are mode1, mode2, mode3 (or all of them: all)' "$ztp" evaluate run --ranking nothing
# Nothing asked: the list of commands.
expect 2 'List the most probable unseen cells, and why' "$ztp"
grep -q ', 0 us left' log.txt && { echo "FAILED: 0 us left"; failed=1; }
grep -q '^sweep 200/200,' log.txt && ! grep -q '^sweep 200/200, .* left' log.txt ||
  { echo "FAILED: the last line of progress"; failed=1; }
expect 0 'held-out ones among the most probable unseen cells' "$ztp" evaluate run
expect 0 '"popularity":{"auc_roc":0.' "$ztp" evaluate run --json --head 0

expect 4 'exists' "$ztp" fit sim/tensor.tsv --rank 3 --out run
expect 0 'component' "$ztp" components run --top 2
expect 0 '"weight_q05"' "$ztp" components run --json --component 1
expect 2 'the modes are mode1, mode2, mode3' "$ztp" components run --mode nothing
expect 0 'Is the bound on the rank large enough? ' "$ztp" diagnose run
"$ztp" predict run "$work/parts/test.tsv" >/dev/null 2>warned.txt
[ "$(grep -c 'should not be used yet' warned.txt)" -eq 1 ] || { echo "FAILED: predict warns once"; failed=1; }
expect 0 'probability' "$ztp" recommend run mode1=5 mode2=7 --top 3
[ "$(grep -vcE '^(#|ztp: warning)' out.txt)" -eq 3 ] ||
  { echo "FAILED: recommend printed another number of cells"; failed=1; }
expect 3 'no mode1 is called "nobody"' "$ztp" recommend run mode1=nobody
expect 0 'Only one chain' "$ztp" diagnose run
grep -q '^occupied rank' out.txt || { echo "FAILED: no row of the rank"; failed=1; }
expect 0 '"verdict": "one chain"' "$ztp" diagnose run --json
expect 3 'not a run directory' "$ztp" diagnose sim
expect 0 'status       complete' "$ztp" info run
expect 0 '"status": "complete"' "$ztp" info run --json
expect 0 'Nothing to do' "$ztp" resume run

# Prediction from a file and from standard input give the same numbers.
cut -f1-3 parts/test.tsv | grep -v '^#' | head -5 >cells.tsv
"$ztp" predict run cells.tsv >from_file.txt
"$ztp" predict run - <cells.tsv >from_stdin.txt
cmp from_file.txt from_stdin.txt || failed=1
head -1 from_file.txt | grep -q "^#mode1	mode2	mode3	probability	sd	q05	q95$" ||
  { echo "FAILED: header of predict"; failed=1; }
[ "$(wc -l <from_file.txt)" -eq 6 ] || { echo "FAILED: lines of predict"; failed=1; }

# Any door into the same data: .tsv, .tns and compressed standard input give the same fit.
grep -v '^#' sim/tensor.tsv | tr '\t' ' ' | sed 's/$/ 1/' >tensor.tns
for run in a b; do
  [ $run = a ] && { gzip -c tensor.tns | "$ztp" fit - --format tns --rank 3 --sweeps 20 --out $run >/dev/null 2>&1; } ||
    "$ztp" fit tensor.tns --rank 3 --sweeps 20 --threads 1 --out $run >/dev/null 2>&1
done
"$ztp" predict a cells.tsv >a.txt
"$ztp" predict b cells.tsv >b.txt
cmp a.txt b.txt || { echo "FAILED: a stream and a file give different fits"; failed=1; }

# Names and labels that are easily taken for something else: modes called like variables, labels that begin with #,
# labels with letters beyond ASCII, flags before the file.
printf '#p\tu_p\n#a\tx\nb\t\303\251\n#a\t\303\251\nc\tx\nb\tz\n' >odd.tsv
printf '#a\tb\nb\tc\n' >no_header.tsv
printf '#from\tto\n#a\tb\n' >edges.tsv
"$ztp" split odd.tsv --holdout 0.2 --zeros-per-one 1 --out odd >/dev/null
expect 3 'put a header line above it' "$ztp" check odd.tsv --network p=no_header.tsv
expect 0 'draws' "$ztp" fit --labels odd/labels --network p=edges.tsv odd/train.tsv --rank 2 --sweeps 20 --out odd-run
expect 0 '"probability"' "$ztp" recommend odd-run --top 3 --json
expect 0 '"label"' "$ztp" components odd-run --all --json
printf '#a\tx\nb\tx\n' >first.tsv
expect 3 'must name the modes in order' "$ztp" predict odd-run first.tsv
printf '#u_p\tp\nx\tb\n' >swapped.tsv
expect 3 'swapped.tsv:1' "$ztp" predict odd-run swapped.tsv
printf '#p\tu_p\n#a\tx\nb\tx\n' >right.tsv
expect 0 '#a' "$ztp" predict odd-run right.tsv
expect 6 'standard output' sh -c '"$1" info run >/dev/full' - "$ztp"
expect 0 '"status": "complete"' "$ztp" fit odd.tsv --rank 2 --sweeps 20 --out odd-json --json

# The options page is made from the list of options.
"$ztp" fit --options-markdown | cmp - "$source_dir/docs/options.md" ||
  { echo "FAILED: docs/options.md is out of date"; failed=1; }
finish
