#!/bin/sh
# experiments/coverage.py in its quick form, three tiny data sets: what is done is not done again, a row that a kill has
# cut is, the docs are left alone, and batch intervals hold about 90 % of true probabilities where online ones hold
# fewer. Seeds are fixed; batch covers 90 % of these 1,152 cells and online 76 %.
. "$2/tests/cli/common.sh.inc"
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
export PYTHONDONTWRITEBYTECODE=1 ZTP="$work/counted"
cat >counted <<END
#!/bin/sh
echo "\$1" >>"$work/calls"
exec "$ztp" "\$@"
END
chmod +x counted

quick() {
  : >calls
  expect 0 '| 8 x 8 x 6' python3 "$source_dir/experiments/coverage.py" --quick --out "$work/rows" --sizes small \
    --methods 'batch;online;updated, 50 % new' --jobs 2
}
calls_of() { grep -cx "$1" calls || true; }
# same WHAT A B
same() { [ "$2" = "$3" ] || { echo "FAILED: $1: $2 instead of $3"; failed=1; }; }
# covered METHOD: of all cells, in percent.
covered() {
  awk -F'\t' -v method="$1" '$2 == method {cells += $5 + $9; out += $6 + $7 + $10 + $11}
    END {printf "%d", 100 * (1 - out / cells)}' rows/coverage.tsv
}

pages() { find "$source_dir/docs" -type f -exec cksum {} + | sort; }
pages >pages.txt
quick
same fits "$(calls_of fit)" 9
same updates "$(calls_of update)" 3
sort rows/coverage.tsv >first.tsv
same rows "$(wc -l <first.tsv)" 10
quick
same 'fits of a second run' "$(calls_of fit)" 0
head -c -2 rows/coverage.tsv >cut.tsv
cp cut.tsv rows/coverage.tsv
quick
same 'fits after a cut' "$(calls_of fit)" 1
sort rows/coverage.tsv | cmp first.tsv - || failed=1
batch=$(covered batch) online=$(covered online)
[ "$batch" -ge 85 ] && [ "$batch" -le 95 ] || { echo "FAILED: batch covers $batch %"; failed=1; }
[ "$online" -le 82 ] || { echo "FAILED: online covers $online %"; failed=1; }
expect 1 '--methods nobody: not one of batch' python3 "$source_dir/experiments/coverage.py" --quick --methods nobody
pages | cmp pages.txt - || { echo "FAILED: a quick run has changed docs"; failed=1; }
finish
