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
expect 0 '1 self-loops ignored' "$ztp" check three.tsv --network mode1=loops.tsv
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
finish
