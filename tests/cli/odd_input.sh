#!/bin/sh
# Odd input that is read nevertheless: what is made of it, and what is said about it. What is refused is in
# tests/bad_inputs.
. "$2/tests/cli/common.sh.inc"

printf 'a\tx\nb\ty\nc\tz\n' >good.tsv
gzip -c good.tsv >whole.tsv.gz
expect 0 'ones        3' "$ztp" check whole.tsv.gz
zstd -q good.tsv -o whole.tsv.zst
expect 0 'ones        3' "$ztp" check whole.tsv.zst

printf '#u\ti\na\tx\nb\ty\na\tx\nb\tx\na\tx\n' >double.tsv
expect 0 'line 4 repeats line 2: a, x' "$ztp" check double.tsv
expect 0 'line 6 repeats line 2: a, x' "$ztp" check double.tsv
expect 0 '"duplicates": 2' "$ztp" check double.tsv --json
printf 'a\tb\nb\ta\na\ta\n' >loops.tsv
printf 'a\tx\nb\ty\nc\tx\n' >three.tsv
expect 0 '1 self-loops are ignored' "$ztp" check three.tsv --network mode1=loops.tsv
expect 0 'network     mode1: 1 edges' "$ztp" check three.tsv --network mode1=loops.tsv

# Windows line ends, a byte order mark, empty lines, no newline at the end, and signs and exponents of numbers.
printf '\357\273\277#user\titem\r\n\r\na\tx\t+1\r\nb\ty\t2e0\r\nc\tz\t-0' >windows.tsv
expect 0 '"ones": 2' "$ztp" check windows.tsv --values --json
expect 0 '"name": "user"' "$ztp" check windows.tsv --values --json
printf '1 1 1\r\n2 2 1\r\n' >windows.tns
expect 0 '"ones": 2' "$ztp" check windows.tns --json
# A cell of a test file may be there twice, if both say the same.
printf 'a\ty\t0\na\ty\t0\nb\tx\t1\n' >twice.tsv
expect 0 '(1 ones, 2 zeros)' "$ztp" fit three.tsv --rank 2 --sweeps 4 --test twice.tsv --out twice

# What was not observed: cells, slices, pairs.
printf '#user\titem\nann\tx\nbob\ty\ncid\tx\n' >seen.tsv
printf 'ann\nbob\ncid\ndan\n' >users.txt
printf 'ann\tbob\n' >friends.tsv
printf 'dan\n' >slices.txt
printf 'ann\ty\t0\nann\ty\t1\ndan\tx\t0\n' >cells.tsv
printf 'cid\tcid\ndan\tann\n' >pairs.tsv
set -- check seen.tsv --labels user=users.txt --missing cells.tsv --missing-slices user=slices.txt \
  --network user=friends.tsv --missing-pairs user:1=pairs.tsv
expect 0 'missing     3 cells (37.5 %), 1 of them listed individually' "$ztp" "$@"
expect 0 '1 with all cells missing' "$ztp" "$@"
expect 0 'network     user: 1 edges, 1 pairs missing' "$ztp" "$@"
expect 0 'cells.tsv: 1 repeated cells are merged' "$ztp" "$@"
expect 0 'pairs.tsv: 1 pairs of an entity with itself are ignored' "$ztp" "$@"
expect 0 '"missing_pairs": 1' "$ztp" "$@" --json
expect 0 '"missing_cells": 1' "$ztp" "$@" --json
expect 0 'missing-user.txt' "$ztp" split seen.tsv --protocol slices --mode user --after 2 --zeros-per-one 1 --out cold
[ "$(cat cold/missing-user.txt)" = cid ] || { echo "FAILED: the held-out entities are not listed"; failed=1; }
expect 0 'missing     2 cells (33.3 %), 0 of them' \
  "$ztp" check cold/train.tsv --labels cold/labels --missing-slices user=cold/missing-user.txt

# A CSV of a spreadsheet of Windows, and the same as a TSV: the same data, through every door.
printf '\357\273\277user,item,"how many"\r\nann,"kettle, big",2\r\nbob,"the ""old"" pot",1\r\nann,mug,3\r\n\r\n,,\r\n' >sales.csv
printf '#user\titem\thow many\nann\tkettle, big\t2\nbob\tthe "old" pot\t1\nann\tmug\t3\n' >sales.tsv
set -- --likelihood count
expect 0 'sales.csv: ones as csv, columns separated by commas: user, item, and a value; the first line is a header' \
  "$ztp" check sales.csv "$@"
expect 0 '"separator": ","' "$ztp" check sales.csv "$@" --json
for file in sales.csv sales.tsv; do
  "$ztp" convert $file $file.ztpt "$@" >/dev/null 2>&1
  "$ztp" split $file "$@" --holdout 0.4 --zeros-per-one 1 --out $file.split >/dev/null 2>&1
  "$ztp" fit $file "$@" --rank 2 --sweeps 20 --chains 1 --out $file.run >/dev/null 2>&1
done
cmp sales.csv.ztpt sales.tsv.ztpt || { echo "FAILED: a CSV is converted to something else"; failed=1; }
cmp sales.csv.split/train.tsv sales.tsv.split/train.tsv || { echo "FAILED: a CSV is split in another way"; failed=1; }
cmp sales.csv.run/draws.nc sales.tsv.run/draws.nc || { echo "FAILED: a CSV gives other draws"; failed=1; }
gzip -c sales.csv | "$ztp" convert - stdin.ztpt "$@" >/dev/null 2>&1
cmp stdin.ztpt sales.tsv.ztpt || { echo "FAILED: a compressed CSV from a stream is converted to something else"; failed=1; }
"$ztp" convert sales.csv --format csv --header forced.ztpt "$@" 2>notes.txt >/dev/null
cmp forced.ztpt sales.tsv.ztpt || { echo "FAILED: --format csv --header"; failed=1; }
[ ! -s notes.txt ] || { echo "FAILED: a note about what was said"; failed=1; }
printf '"mug",bob\n' >swapped.csv
printf 'bob,mug\nann,"the ""old"" pot"\n' >cells.csv
for cells in cells.csv -; do
  "$ztp" predict sales.csv.run $cells <cells.csv >predicted 2>/dev/null
  [ "$(wc -l <predicted)" -eq 3 ] || { echo "FAILED: cells to predict as a CSV"; failed=1; }
done
expect 3 'unknown user "mug"' "$ztp" predict sales.csv.run swapped.csv
printf 'user,item,count\nann,mug,1\nzoe,"kettle, big",4\n' >more.csv
expect 0 '1 new entities of mode user' sh -c 'sed s/count/how\ many/ more.csv | "$1" update sales.csv.run - --sweeps 5 2>&1' - "$ztp"

# What may be a mistake is told, and then read as before.
printf 'user\titem\tcount\nann\tx\t3\nbob\ty\t1\nann\ty\t2\n' >plain.tsv
for command in "check plain.tsv" "fit plain.tsv --rank 2 --sweeps 4 --out plain-run" "convert plain.tsv plain.ztpt" \
  "split plain.tsv --holdout 0.5 --out plain-split"; do
  expect 0 'plain.tsv: line 1 looks like a header (use --header) but is read as a cell: user, item, count' "$ztp" $command
done
expect 0 'the last column, "count", has only numbers, 3 different ones, and is read as a mode; did you mean --likelihood count' \
  "$ztp" check plain.tsv --header
expect 0 '"header": true' "$ztp" check plain.tsv --header --likelihood count --json
"$ztp" check plain.tsv --header --likelihood count >out.txt 2>&1
! grep -q 'warning\|note' out.txt || { echo "FAILED: a warning, although everything was said"; failed=1; }
# No warning about data that are as they should be.
for data in "$source_dir/data/world/memberships.tsv" "$source_dir/data/states/links.tsv"; do
  grep -v '^#' "$data" >bare.tsv
  for first in 1 17 33 50 71 90 111 140; do
    { sed -n "${first}p" bare.tsv; sed "${first}d" bare.tsv; } >first.tsv
    "$ztp" convert first.tsv first.ztpt --force >/dev/null 2>warnings.txt
    ! grep -q 'header\|did you mean' warnings.txt || { echo "FAILED: $(cat warnings.txt)"; failed=1; }
  done
done

# Cold start: entities that have no ones are added by those who name them, and told.
printf 'zoe\teve\n' | cat friends.tsv - >wide.tsv
printf 'fay\n' >new.txt
set -- seen.tsv --network user=wide.tsv --missing-slices user=new.txt
for command in check "fit --rank 2 --sweeps 4 --force --out cold-run"; do
  expect 0 'note: new.txt: adds 1 entity to mode user' "$ztp" $command "$@"
  expect 0 'wide.tsv: adds 2 entities to mode user, of the 4 that it names' "$ztp" $command "$@"
done
expect 0 'mode        user: 6 entities' "$ztp" check "$@"
expect 0 'note: users.txt: adds 1 entity without ones to mode user' "$ztp" convert seen.tsv seen.ztpt --labels user=users.txt
expect 0 'note: slices.txt: adds 1 entity to mode user' "$ztp" split seen.tsv --holdout 0.3 --zeros-per-one 1 \
  --missing-slices user=slices.txt --out cold-split
"$ztp" convert seen.tsv bare.ztpt >/dev/null 2>&1
shift
expect 0 'wide.tsv: adds 2 entities to mode user' "$ztp" fit bare.ztpt "$@" --method online --minibatch 2 --rank 2 --sweeps 10 --out cold-online
printf 'zoe\tx\nfay\ty\n' >cold.tsv
for run in cold-run cold-online; do expect 0 'fay' "$ztp" predict $run cold.tsv; done
expect 0 'draws of' "$ztp" resume cold-online --sweeps 12
finish
