#!/bin/sh
# The experiments of the paper in their quick forms, without data sets and without plots: they run, a second run does
# nothing twice, a row that a kill has cut is done again, and the pages are left alone.
. "$2/tests/cli/common.sh.inc"
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
paper=$source_dir/experiments/paper
export PYTHONDONTWRITEBYTECODE=1 ZTP_DATA="$work/none" ZTP="$work/counted"

# The program, with a line in a file for each call.
cat >counted <<END
#!/bin/sh
echo "\$1" >>"$work/calls"
exec "$ztp" "\$@"
END
chmod +x counted

# quick SCRIPT [OPTION...]: a quick run into the folder "rows".
quick() {
  script=$1
  shift
  : >calls
  expect 0 'ended' sh -c '"$@" && echo ended' sh python3 "$paper/$script.py" --quick --out "$work/rows" "$@"
}

# fits N WHAT: the last run made N fits.
fits() {
  got=$(grep -cx fit calls || true)
  [ "$got" -eq "$1" ] || { echo "FAILED: $got fits instead of $1: $2"; failed=1; }
}

# table FILE ROWS: so many rows, each with all columns and an AUC-ROC above 0.5.
table() {
  awk -F'\t' -v rows="$2" -v file="$1" '
    NR == 1 {columns = NF; for (i = 1; i <= NF; i++) if ($i == "auc_roc") auc = i; next}
    NF != columns || !($auc > 0.5 && $auc <= 1) {print "FAILED: " file ": " $0; bad = 1}
    END {if (NR - 1 != rows) {print "FAILED: " file ": " NR - 1 " rows instead of " rows; bad = 1} exit bad}' "$1" ||
      failed=1
}

# all_but_seconds FILE: what is a function of the seed.
all_but_seconds() {
  awk -F'\t' 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == "seconds") s = i} {$s = ""; print}' "$1"
}

# restartable SCRIPT FILE ROWS FITS [OPTION...]
restartable() {
  script=$1 file=rows/$2 rows=$3 first=$4
  shift 4
  quick "$script" "$@"
  fits "$first" "$script, first"
  table "$file" "$rows"
  cp "$file" first.tsv
  quick "$script" "$@"
  fits 0 "$script, again"
  cmp first.tsv "$file" || failed=1
  # Cut in the last number: what is left has all columns and must still not be taken for a row. Then all but one byte.
  last=$(tail -n 1 first.tsv | wc -c)
  for cut in 2 $((last - 1)); do
    head -c -"$cut" first.tsv >"$file"
    quick "$script" "$@"
    fits 1 "$script, $cut bytes of the last row cut off"
    table "$file" "$rows"
    all_but_seconds first.tsv >one.txt
    all_but_seconds "$file" >two.txt
    cmp one.txt two.txt || failed=1
  done
}

pages() { find "$source_dir/docs" -type f -exec cksum {} + | sort; }
pages >pages.txt

# Each of the six methods has two pilot fits, which are not rows.
restartable completion completion.tsv 28 40
restartable time_auc time-auc.tsv 13 13
expect 1 '--methods nobody: not one of ztp-batch' python3 "$paper/completion.py" --quick --methods nobody

# Of the others only what all have in common.
for script in topics cold_start scaling; do
  [ -f "$paper/$script.py" ] || continue
  rm -rf rows
  quick "$script"
  cp -r rows first
  quick "$script"
  fits 0 "$script, again"
  for file in first/*.tsv; do cmp "$file" "rows/${file#first/}" || failed=1; done
  rm -rf first
done

pages | cmp pages.txt - || { echo "FAILED: a quick run has changed docs"; failed=1; }
finish
