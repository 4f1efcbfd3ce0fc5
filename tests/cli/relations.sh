#!/bin/sh
# Entities that relate to entities: the data set of docs/relations.md, and what tied modes gain there. And data that are
# not of this kind, where --columns auto is CP. All seeds are fixed, so every answer is.
. "$2/tests/cli/common.sh.inc"
fail() { echo "FAILED: $*"; failed=1; }

# ---- the data set ----------------------------------------------------------------------------------------------------
expect 0 '199 states, 9 relations, 3514 facts' sh "$source_dir/data/states/generate.sh" states
# Symmetric relations are there both ways, the others one way, and no state relates to itself.
python3 - <<'END' || fail "the facts of data/states"
facts = {tuple(line.rstrip("\n").split("\t")) for line in open("states/facts.tsv") if not line.startswith("#")}
assert len(facts) == 3514
for subject, relation, object in facts:
    assert subject != object, subject
    both_ways = relation not in ("independent from", "money of")
    assert ((object, relation, subject) in facts) == both_ways, (subject, relation, object)
END
# A fact that the other table does not have, a state too many, a year that is wrong: nothing is written.
mkdir -p copy
cp -r "$source_dir/data/world" "$source_dir/data/states" copy
broken() { # 'MESSAGE' FILE 'SED SCRIPT'
  sed "$3" "$source_dir/data/states/$2" >"copy/states/$2"
  cmp -s "copy/states/$2" "$source_dir/data/states/$2" && fail "nothing was broken in $2"
  expect 1 "$1" sh copy/states/generate.sh out
  [ -e out/facts.tsv ] && fail "facts were written in spite of: $1"
  cp "$source_dir/data/states/$2" copy/states
}
broken '"NATO" has 31 states, but 32 in' groups.tsv '/^Norway\tallied\tNATO/d'
broken '"Austria" is no member of "NATO"' groups.tsv 's/^Norway\tallied\tNATO/Austria\tallied\tNATO/'
broken '"Ghana" is there from 1957' links.tsv 's/^\(Ghana\t.*\)1957/\11956/'
broken 'no state "Tibet"' groups.tsv 's/^Norway\tallied\tNATO/Tibet\tallied\tNATO/'
broken 'is in "Korean War 1950-1953" already' sides.tsv 's/^Turkey\(\tfought\tKorean.*\)$/China\1/'
broken 'has one side alone' sides.tsv '/Falklands.*\t2$/d'
broken 'in this order or the other' links.tsv 's/^Suriname\t\(.*\)\tNetherlands\t1975/Netherlands\t\1\tIndonesia\t1900/'

# ---- tied modes ------------------------------------------------------------------------------------------------------
expect 0 'have 179 labels in common, of 199 and 179; none of the ones has' "$ztp" check states/facts.tsv
expect 0 'fit with --tie subject=object --self-cells missing' "$ztp" check states/facts.tsv
held_out() { # NAME FLAGS...: fits, and prints the AUC-PR and the log-loss of held-out facts
  name=$1
  shift
  "$ztp" fit states/facts.tsv "$@" --sweeps 100 --holdout 0.1 --zeros-per-one 20 --chains 1 --threads 1 \
    --out $name >out.txt 2>&1 || { cat out.txt; fail "fit $*"; }
  "$ztp" evaluate $name --json |
    python3 -c 'import json, sys; it = json.load(sys.stdin); print(it["auc_pr"], it["log_loss"])'
}
cp=$(held_out cp --rank 50)
tied=$(held_out tied --tie subject=object --self-cells missing)
python3 - $cp $tied <<'END' || fail "CP $cp, tied $tied: AUC-PR and log-loss of held-out facts"
import sys
cp_pr, cp_loss, tied_pr, tied_loss = map(float, sys.argv[1:])
sys.exit(not (tied_pr > cp_pr + 0.03 and tied_loss < 0.9 * cp_loss))
END

# ---- data of another kind --------------------------------------------------------------------------------------------
sh "$source_dir/data/world/generate.sh" world >/dev/null
expect 0 '"same_entities": null' "$ztp" check world/tensor.tsv --json
expect 0 '"columns": []' "$ztp" check world/tensor.tsv --json
few="--rank 5 --sweeps 4 --chains 1 --threads 1"
"$ztp" fit world/tensor.tsv $few --out world-cp >/dev/null 2>&1
"$ztp" fit world/tensor.tsv $few --columns auto --out world-auto >/dev/null 2>&1
cmp world-cp/draws.nc world-auto/draws.nc || fail "--columns auto is not CP on data/world"

finish
