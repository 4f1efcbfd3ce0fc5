#!/bin/sh
# Kinship and UMLS, if they are under $ZTP_DATA (they may not be redistributed; without them this test is skipped): a
# short fit must rank a held-out tenth of all cells nearly as well as the long ones of docs/results.md.
[ -n "${ZTP_DATA:-}" ] && [ -d "$ZTP_DATA/kinship" ] && [ -d "$ZTP_DATA/umls" ] ||
  { echo "no data under ZTP_DATA: skipped"; exit 77; }
. "$2/tests/cli/common.sh.inc"

for name in kinship umls; do
  "$ztp" split "$ZTP_DATA/$name/tensor.tsv.gz" --protocol cells --holdout 0.1 --seed 1 --out $name >/dev/null
  "$ztp" fit $name/train.tsv --labels $name/labels --test $name/test.tsv --rank 40 --dirichlet 0.05 --sweeps 300 \
    --chains 1 \
    --out run-$name >/dev/null 2>&1
  auc=$("$ztp" evaluate run-$name --json | sed 's/"popularity".*//; s/.*"auc_roc":\([0-9.]*\).*/\1/')
  wanted=$([ $name = kinship ] && echo 0.94 || echo 0.99)
  awk "BEGIN { exit !($auc > $wanted) }" || { echo "FAILED: $name: AUC-ROC $auc, wanted $wanted"; failed=1; }
done
expect 0 '135 entities' "$ztp" check "$ZTP_DATA/umls/tensor.tsv.gz" \
  --labels "concept_j=$ZTP_DATA/umls/concept-labels.tsv"
# Persons relate to persons; users watch movies, also where both are numbers.
expect 0 '--tie person_i=person_j --self-cells zero' "$ztp" check "$ZTP_DATA/kinship/tensor.tsv.gz"
expect 0 '--tie concept_i=concept_j --self-cells zero' "$ztp" check "$ZTP_DATA/umls/tensor.tsv.gz"
if [ -d "$ZTP_DATA/movielens-100k" ]; then
  gzip -dc "$ZTP_DATA/movielens-100k/tensor.tsv.gz" >movies.tsv
  awk -F '\t' 'NR > 1 { if (!($1 in user)) user[$1] = ++users; if (!($2 in movie)) movie[$2] = ++movies
                        print user[$1], movie[$2], 1 }' movies.tsv >movies.tns
  for file in movies.tsv movies.tns; do expect 0 '"same_entities": null' "$ztp" check $file --json; done
fi
finish
