#!/bin/sh
# Fits the embedded data set (country x organisation x period, with the land borders as a network) and shows what came
# out.
set -eu
cd "$(dirname "$0")/.."
ztp=build/release/ztp
demo=build/demo
mkdir -p "$demo"
sh data/world/generate.sh "$demo/world"
"$ztp" check "$demo/world/tensor.tsv" --labels "$demo/world/labels" \
  --network "country=$demo/world/network-country.tsv"
echo
"$ztp" fit "$demo/world/tensor.tsv" --labels "$demo/world/labels" --network "country=$demo/world/network-country.tsv" \
  --holdout 0.1 --until converged --at-most 1m --out "$demo/run" --force
echo
echo "The six largest components:"
"$ztp" components "$demo/run" --top 5 | awk '/^component/ { n++ } n <= 6'
echo
echo "Held-out cells (a tenth of the ones, five drawn zeros for each):"
"$ztp" evaluate "$demo/run"
echo
echo "Memberships the fit was not shown (a tenth was held out) that it thinks most probable for Switzerland, 2020-24:"
"$ztp" recommend "$demo/run" country=Switzerland period=2020-24 --top 5
echo
"$ztp" report "$demo/run" -o "$demo/report.html" >/dev/null
echo "The run directory is $demo/run. Look at it in a browser, which needs no network:"
echo "  $PWD/$demo/report.html"
echo "Try:"
echo "  $ztp components $demo/run --top 5"
echo "  $ztp recommend $demo/run country=Turkey --top 5"
echo "  $ztp info $demo/run"
