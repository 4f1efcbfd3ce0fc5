#!/bin/sh
# Checks groups.tsv, sides.tsv and links.tsv (beside this script) against each
# other and against ../world, and writes the facts made of them.
#
# usage: generate.sh OUTPUT_DIRECTORY
#
# Needs a POSIX shell and any POSIX awk.  See README.md for the rules.
set -eu

LC_ALL=C
export LC_ALL

if [ $# -ne 1 ] || [ -z "$1" ]; then
    echo "usage: generate.sh OUTPUT_DIRECTORY" >&2
    exit 2
fi

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
mkdir -p -- "$1"
OUT=$(CDPATH='' cd -- "$1" && pwd)

cd -- "$here"
for file in groups.tsv sides.tsv links.tsv ../world/countries.tsv ../world/borders.tsv ../world/memberships.tsv; do
    if [ ! -r "$file" ]; then
        echo "generate.sh: cannot read $here/$file" >&2
        exit 1
    fi
done

# A failed run leaves the output of an earlier one as it was.
WORK=$OUT/.generate.$$
trap 'rm -rf -- "$WORK"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -- "$WORK"

awk '
BEGIN {
    FS = OFS = "\t"
    fields["../world/countries.tsv"] = 3
    fields["../world/borders.tsv"] = 2
    fields["../world/memberships.tsv"] = 4
    fields["groups.tsv"] = 3
    fields["sides.tsv"] = 4
    fields["links.tsv"] = 4
}

function complain(message) {
    print FILENAME ":" FNR ": " message | "cat 1>&2"
    errors++
}

# Whether there is such a state today.
function known(state) {
    if (state in today)
        return 1
    complain("no state \"" state "\" today in ../world/countries.tsv")
    return 0
}

function add(subject, relation, object) {
    print subject, relation, object
}

FNR == 1 || /^#/ || /^$/ { next }

NF != fields[FILENAME] {
    complain("expected " fields[FILENAME] " tab-separated fields, found " NF)
    next
}

FILENAME == "../world/countries.tsv" {
    if ($3 == "-")
        today[$1] = $2
    next
}

FILENAME == "../world/borders.tsv" {
    if (($1 in today) && ($2 in today)) {
        add($1, "borders", $2)
        add($2, "borders", $1)
    }
    next
}

# Kept to compare groups with that are organisations there.
FILENAME == "../world/memberships.tsv" {
    organisation[$2] = 1
    if ($4 == "-")
        in_world[$1, $2] = ++size_in_world[$2]
    next
}

# Each state of a group is related to each other one.
FILENAME == "groups.tsv" {
    if (!known($1))
        next
    if (($1, $3) in in_group)
        complain("\"" $1 "\" is in \"" $3 "\" already")
    if (($3 in relation_of_group) && relation_of_group[$3] != $2)
        complain("\"" $3 "\" has the relation \"" relation_of_group[$3] "\" above")
    if (($3 in organisation) && !(($1, $3) in in_world))
        complain("\"" $1 "\" is no member of \"" $3 "\" in ../world/memberships.tsv")
    in_group[$1, $3] = 1
    relation_of_group[$3] = $2
    for (i = 1; i <= group_size[$3]; i++) {
        add($1, $2, group[$3, i])
        add(group[$3, i], $2, $1)
    }
    group[$3, ++group_size[$3]] = $1
    next
}

# Each state of a side is related to each one of the other.
FILENAME == "sides.tsv" {
    if (!known($1))
        next
    if ($4 != 1 && $4 != 2)
        complain("the side is \"" $4 "\", not 1 or 2")
    if (($1, $3) in in_event)
        complain("\"" $1 "\" is in \"" $3 "\" already")
    in_event[$1, $3] = 1
    for (i = 1; i <= side_size[$3, 3 - $4]; i++) {
        add($1, $2, side[$3, 3 - $4, i])
        add(side[$3, 3 - $4, i], $2, $1)
    }
    side[$3, $4, ++side_size[$3, $4]] = $1
    event[$3] = 1
    next
}

# Of the first state to the second, and not the other way.
FILENAME == "links.tsv" {
    if (!known($1) || !known($3))
        next
    if ($1 == $3)
        complain("\"" $1 "\" is linked to itself")
    if (($1, $2, $3) in linked || ($3, $2, $1) in linked)
        complain("this link is there already, in this order or the other")
    linked[$1, $2, $3] = 1
    # Years before 1950 are not in that table, which begins then.
    if ($4 != "-" && ($4 < 1950 ? 1950 : $4) != today[$1])
        complain("the year is " $4 ", but \"" $1 "\" is there from " today[$1] " in ../world/countries.tsv")
    add($1, $2, $3)
}

END {
    for (name in group_size) {
        if (group_size[name] < 2)
            complain("the group \"" name "\" has one state alone")
        if ((name in organisation) && group_size[name] != size_in_world[name])
            complain("\"" name "\" has " group_size[name] " states, but " size_in_world[name] \
                     " in ../world/memberships.tsv")
    }
    for (name in event)
        if (!side_size[name, 1] || !side_size[name, 2])
            complain("\"" name "\" has one side alone")
    if (errors) {
        print "generate.sh: " errors " error(s), nothing written" | "cat 1>&2"
        close("cat 1>&2")
        exit 1
    }
}
' ../world/countries.tsv ../world/borders.tsv ../world/memberships.tsv groups.tsv sides.tsv links.tsv >"$WORK/all"

# Wars may have been fought twice: each fact once, ordered by relation.
sort -t "$(printf '\t')" -k2,2 -k1,1 -k3,3 -u "$WORK/all" >"$WORK/sorted"
{ printf '#subject\trelation\tobject\n'; cat "$WORK/sorted"; } >"$WORK/facts.tsv"
mv -f -- "$WORK/facts.tsv" "$OUT/"
awk -F '\t' '{ states[$1] = states[$3] = 1; relations[$2]++ }
END {
    for (s in states) n++
    for (r in relations) m++
    printf "%d states, %d relations, %d facts\n", n, m, NR
}' "$WORK/sorted"
