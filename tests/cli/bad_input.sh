#!/bin/sh
# Bad input gets one clear error with its place and a non-zero exit code.
. "$2/tests/cli/common.sh.inc"

tab=$(printf '\t')
printf 'a\tx\nb\n' >ragged.tsv
expect 3 'ragged.tsv:2' "$ztp" check ragged.tsv
printf 'a x\nb y\n' >spaces.tsv
expect 3 'spaces.tsv:1' "$ztp" check spaces.tsv
: >empty.tsv
expect 3 'empty.tsv' "$ztp" check empty.tsv
printf '#user\titem\n' >header.tsv
expect 3 'header.tsv' "$ztp" check header.tsv
printf 'a\tx\nb\0c\ty\n' >nul.tsv
expect 3 'nul.tsv:2:2' "$ztp" check nul.tsv
printf 'a\tx\t1\nb\ty\tmany\n' >number.tsv
expect 3 'number.tsv:2:5' "$ztp" check number.tsv --values
printf 'a\tx\t3\nb\ty\t-1\n' >negative.tsv
expect 3 'negative.tsv:2:5' "$ztp" check negative.tsv --likelihood count
printf 'a\tx\t3\nb\ty\t1.5\n' >fraction.tsv
expect 3 'fraction.tsv:2:5' "$ztp" check fraction.tsv --likelihood count
printf 'a\tx\t4611686018427387904\nb\ty\t4611686018427387904\n' >overflow.tsv
expect 3 '2^62' "$ztp" check overflow.tsv --likelihood count
printf '1 1 1\n0 2 1\n' >zero.tns
expect 3 '--index-base 0' "$ztp" check zero.tns
printf '1 1 1\n5000000000 2 1\n' >big.tns
expect 3 'big.tns:2:1' "$ztp" check big.tns
printf 'sptensor\n2\n2 2\n1\n3 1 1\n' >outside.tns
expect 3 'outside.tns:5:1' "$ztp" check outside.tns
printf '%%%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n' >short.mtx
expect 3 'short.mtx' "$ztp" check short.mtx
printf 'a\tx\nb\ty\nc\tz\n' >good.tsv
gzip -c good.tsv >whole.tsv.gz
head -c 20 whole.tsv.gz >cut.tsv.gz
expect 3 'cut.tsv.gz' "$ztp" check cut.tsv.gz
expect 0 'ones        3' "$ztp" check whole.tsv.gz
zstd -q good.tsv -o whole.tsv.zst
expect 0 'ones        3' "$ztp" check whole.tsv.zst
expect 6 'missing.tsv' "$ztp" check missing.tsv
expect 3 'unknown mode1 "q"' sh -c 'printf "a\tq\n" >net.tsv; "$1" check good.tsv --network mode1=net.tsv' - "$ztp"
expect 4 'the modes are mode1, mode2' "$ztp" check good.tsv --network user=good.tsv
expect 3 'twice' sh -c 'printf "a\nb\na\n" >twice.txt; "$1" check good.tsv --labels mode1=twice.txt' - "$ztp"
expect 3 'not in the list of labels' sh -c 'printf "a\nb\n" >few.txt; "$1" check good.tsv --labels mode1=few.txt' - "$ztp"

printf '#u\ti\na\tx\nb\ty\na\tx\nb\tx\na\tx\n' >double.tsv
expect 0 'line 4 repeats line 2: a, x' "$ztp" check double.tsv
expect 0 'line 6 repeats line 2: a, x' "$ztp" check double.tsv
expect 0 '"duplicates": 2' "$ztp" check double.tsv --json
printf 'a\tb\nb\ta\na\ta\n' >loops.tsv
printf 'a\tx\nb\ty\nc\tx\n' >three.tsv
expect 0 '1 self-loops ignored' "$ztp" check three.tsv --network mode1=loops.tsv
expect 0 'network     mode1: 1 edges' "$ztp" check three.tsv --network mode1=loops.tsv

# What was not observed: cells, slices, pairs.
printf '#user\titem\nann\tx\nbob\ty\ncid\tx\n' >seen.tsv
printf 'ann\nbob\ncid\ndan\n' >users.txt
printf 'ann\tbob\n' >friends.tsv
set -- check seen.tsv --labels user=users.txt
printf 'ann\ty\nbob\ty\n' >cells.tsv
expect 3 'cells.tsv: the cell (bob, y) is listed as missing but is a one in seen.tsv' "$ztp" "$@" --missing cells.tsv
printf 'ann\ty\nann\tw\n' >cells.tsv
expect 3 'cells.tsv:2:5: unknown item "w"' "$ztp" "$@" --missing cells.tsv
printf '#item\tuser\ny\tann\n' >cells.tsv
expect 3 'cells.tsv:1' "$ztp" "$@" --missing cells.tsv
expect 6 'nowhere.tsv' "$ztp" "$@" --missing nowhere.tsv
printf 'dan\nzoe\n' >slices.txt
expect 3 'slices.txt:2:1: unknown user "zoe"' "$ztp" "$@" --missing-slices user=slices.txt
printf 'dan\nbob\n' >slices.txt
expect 3 'slices.txt:2:1: user "bob" is listed as missing but has 1 one in seen.tsv' "$ztp" "$@" --missing-slices user=slices.txt
expect 3 'all 4 entities of mode user are missing' "$ztp" "$@" --missing-slices user=users.txt
expect 4 'the modes are user, item' "$ztp" "$@" --missing-slices place=slices.txt
expect 2 'MODE=' "$ztp" "$@" --missing-slices slices.txt
printf 'bob\tann\n' >pairs.tsv
expect 4 'mode user has no network' "$ztp" "$@" --missing-pairs user=pairs.tsv
expect 3 'the pair (ann, bob) is listed as missing but is an edge in friends.tsv' \
  "$ztp" "$@" --network user=friends.tsv --missing-pairs user=pairs.tsv
expect 4 'user:2=FILE' "$ztp" "$@" --network user=friends.tsv --network user=friends.tsv --missing-pairs user=pairs.tsv
expect 4 'has only 1 network' "$ztp" "$@" --network user=friends.tsv --missing-pairs user:2=pairs.tsv
printf 'dan\n' >slices.txt
printf 'ann\ty\t0\nann\ty\t1\ndan\tx\t0\n' >cells.tsv
printf 'cid\tcid\ndan\tann\n' >pairs.tsv
set -- "$@" --missing cells.tsv --missing-slices user=slices.txt --network user=friends.tsv --missing-pairs user:1=pairs.tsv
expect 0 'missing     3 cells (37.5 %), 1 of them listed one by one' "$ztp" "$@"
expect 0 '1 missing with all their cells' "$ztp" "$@"
expect 0 'network     user: 1 edges, 1 pairs missing' "$ztp" "$@"
expect 0 'cells.tsv: 1 repeated cells merged' "$ztp" "$@"
expect 0 'pairs.tsv: 1 pairs of an entity with itself ignored' "$ztp" "$@"
expect 0 '"missing_pairs": 1' "$ztp" "$@" --json
expect 0 '"missing_cells": 1' "$ztp" "$@" --json
expect 0 'missing-user.txt' "$ztp" split seen.tsv --protocol slices --mode user --after 2 --zeros-per-one 1 --out cold
[ "$(cat cold/missing-user.txt)" = cid ] || { echo "FAILED: the held-out entities are not listed"; failed=1; }
expect 0 'missing     2 cells (33.3 %), 0 of them' \
  "$ztp" check cold/train.tsv --labels cold/labels --missing-slices user=cold/missing-user.txt

expect 2 'not a .tns file' "$ztp" check good.tsv --index-base 0
expect 2 'there is no command "chek"' "$ztp" chek good.tsv
expect 2 '--zeros-per-one has no effect' "$ztp" fit good.tsv --rank 2 --zeros-per-one 3 --out run
expect 2 '--network-beta-mean has no effect' "$ztp" fit good.tsv --rank 2 --network-beta-mean 0.5 --out run
expect 4 '--burn-in -5' "$ztp" fit good.tsv --rank 2 --burn-in -5 --out run
expect 2 '--seed' "$ztp" fit good.tsv --rank 2 --seed -1 --out run

# A fit that cannot begin leaves nothing behind.
expect 3 'ragged.tsv:2' "$ztp" fit ragged.tsv --out run
[ ! -e run ] || { echo "FAILED: a run directory was left behind"; failed=1; }
expect 4 '--rank 0' "$ztp" fit good.tsv --rank 0 --out run
expect 4 '--burn-in 10' "$ztp" fit good.tsv --sweeps 10 --burn-in 10 --out run
expect 2 '--ranks' "$ztp" fit good.tsv --ranks 3 --out run
expect 2 '--out' "$ztp" fit good.tsv --rank 2
expect 2 'subcommand' "$ztp"
expect 3 'not a run directory' "$ztp" info "$work"
expect 3 'not a run directory' "$ztp" predict nowhere good.tsv
finish
