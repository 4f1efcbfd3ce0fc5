#!/bin/sh
# Checks countries.tsv, borders.tsv and memberships.tsv (beside this script) and
# writes the tensor, the country network and the labels made of them.
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
export OUT

# The input files are named relative to their directory: no path, whatever it
# holds, is then read by awk as an assignment or an escape.
cd -- "$here"
for file in countries.tsv borders.tsv memberships.tsv; do
    if [ ! -r "$file" ]; then
        echo "generate.sh: cannot read $here/$file" >&2
        exit 1
    fi
done

# The working files go first into a directory of this run's own, so that a
# failed run leaves the output of an earlier one as it was.
WORK=$OUT/.generate.$$
export WORK
trap 'rm -rf -- "$WORK"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -- "$WORK" "$WORK/labels"

awk '
BEGIN {
    FS = OFS = "\t"
    BEGINNING = 1950    # the first year of the first period
    NOW = 2024          # the last year of the last period, and what "-" stands for
    LENGTH = 5          # years in a period
    ENOUGH = 3          # years of membership that make a one
    header["countries.tsv"]   = "#country\tfirst_year\tlast_year"
    header["borders.tsv"]     = "#country\tcountry"
    header["memberships.tsv"] = "#country\torganisation\tfirst_year\tlast_year"
    errors = 0
}

function complain_at(place, message) {
    print place ": " message | "cat 1>&2"
    errors++
}

function complain(message) {
    complain_at(FILENAME ":" FNR, message)
}

function quoted(text) {
    return "\"" text "\""
}

# The number of fields is right and none is empty or padded.
function fields_good(wanted,    i) {
    if (NF != wanted) {
        complain("expected " wanted " tab-separated fields, found " NF)
        return 0
    }
    for (i = 1; i <= NF; i++)
        if ($i == "" || $i ~ /^[ ]/ || $i ~ /[ ]$/) {
            complain("field " i " is empty or has a space at an end")
            return 0
        }
    return 1
}

# Fields f and f+1 are an interval of years; sets from_year and to_year.
function interval_good(f) {
    if ($f !~ /^[12][0-9][0-9][0-9]$/) {
        complain("first_year " quoted($f) " is not a year")
        return 0
    }
    if ($(f + 1) != "-" && $(f + 1) !~ /^[12][0-9][0-9][0-9]$/) {
        complain("last_year " quoted($(f + 1)) " is neither a year nor -")
        return 0
    }
    from_year = $f + 0
    to_year = ($(f + 1) == "-") ? NOW : $(f + 1) + 0
    if (from_year > NOW || to_year > NOW) {
        complain("the interval goes beyond " NOW)
        return 0
    }
    if (from_year > to_year) {
        complain("the interval is reversed: " from_year " is after " to_year)
        return 0
    }
    return 1
}

# Insertion sort of list[1..n], by bytes.
function sort_list(list, n,    i, j, held) {
    for (i = 2; i <= n; i++) {
        held = list[i]
        for (j = i - 1; j >= 1 && (list[j] "") > (held ""); j--)
            list[j + 1] = list[j]
        list[j + 1] = held
    }
}

FNR == 1 { seen_file[FILENAME] = 1 }

/\r/ {
    complain("a carriage return; lines end with a line feed alone")
    next
}

FNR == 1 {
    if ($0 != header[FILENAME])
        complain("the first line is not the header, " header[FILENAME])
    next
}

/^#/ || /^$/ { next }

FILENAME == "countries.tsv" {
    if (!fields_good(3) || !interval_good(2))
        next
    if ($1 in born) {
        complain(quoted($1) " is already on line " country_line[$1])
        next
    }
    if (from_year < BEGINNING)
        complain(quoted($1) " begins before " BEGINNING "; write " BEGINNING)
    country[++countries] = $1
    born[$1] = from_year
    died[$1] = to_year
    ceased[$1] = ($3 != "-")
    country_line[$1] = FNR
    next
}

FILENAME == "borders.tsv" {
    if (!fields_good(2))
        next
    known = 1
    for (i = 1; i <= 2; i++)
        if (!($i in born)) {
            complain("unknown country " quoted($i))
            known = 0
        }
    if (!known)
        next
    if ($1 == $2) {
        complain(quoted($1) " borders on itself")
        next
    }
    if (($1, $2) in border_line) {
        complain("the border of " quoted($1) " and " quoted($2) \
                 " is already on line " border_line[$1, $2])
        next
    }
    if (born[$1] > died[$2] || born[$2] > died[$1])
        complain(quoted($1) " and " quoted($2) " never existed at the same time")
    border_line[$1, $2] = border_line[$2, $1] = FNR
    border[++borders] = ($1 < $2) ? $1 OFS $2 : $2 OFS $1
    next
}

FILENAME == "memberships.tsv" {
    if (!fields_good(4) || !interval_good(3))
        next
    if (!($1 in born)) {
        complain("unknown country " quoted($1))
        next
    }
    # A country there in the beginning may have been so long before.
    if (from_year < born[$1] && born[$1] > BEGINNING) {
        complain(quoted($1) " joined " quoted($2) " in " from_year \
                 " but exists from " born[$1])
        next
    }
    if (ceased[$1] && $4 == "-") {
        complain(quoted($1) " ceased in " died[$1] \
                 " and cannot still be a member of " quoted($2))
        next
    }
    if (to_year > died[$1]) {
        complain(quoted($1) " is a member of " quoted($2) " until " to_year \
                 " but ceased in " died[$1])
        next
    }
    if (to_year < BEGINNING)
        complain("the interval ends before " BEGINNING)
    # A misspelt name would make an organisation of its own amid another.
    if (!($2 in organisation_known)) {
        organisation_known[$2] = 1
        organisation[++organisations] = $2
    } else if ($2 != organisation[organisations])
        complain("the lines of " quoted($2) " do not stand together")
    # The earlier intervals of the same country and organisation.
    n = intervals[$1, $2]
    for (i = 1; i <= n; i++)
        if (from_year <= interval_to[$1, $2, i] && interval_from[$1, $2, i] <= to_year)
            complain("the interval of " quoted($1) " in " quoted($2) \
                     " overlaps the one on line " interval_line[$1, $2, i])
    n = ++intervals[$1, $2]
    interval_from[$1, $2, n] = from_year
    interval_to[$1, $2, n] = to_year
    interval_line[$1, $2, n] = FNR
    next
}

END {
    for (name in header)
        if (!(name in seen_file))
            complain_at(name ":1", "the file is empty")
    if (!countries && !errors)
        complain_at("countries.tsv:1", "no country")
    if (errors) {
        print "generate.sh: " errors " error(s), nothing written" | "cat 1>&2"
        close("cat 1>&2")
        exit 1
    }

    sort_list(country, countries)
    sort_list(organisation, organisations)
    sort_list(border, borders)
    work = ENVIRON["WORK"]

    file = work "/labels/country.txt"
    printf "" > file
    for (c = 1; c <= countries; c++)
        print country[c] > file
    close(file)

    file = work "/labels/organisation.txt"
    printf "" > file
    for (o = 1; o <= organisations; o++)
        print organisation[o] > file
    close(file)

    file = work "/labels/period.txt"
    for (year = BEGINNING; year <= NOW; year += LENGTH) {
        label[year] = sprintf("%d-%02d", year, (year + LENGTH - 1) % 100)
        print label[year] > file
        periods++
    }
    close(file)

    file = work "/network-country.tsv"
    print header["borders.tsv"] > file
    for (b = 1; b <= borders; b++)
        print border[b] > file
    close(file)

    file = work "/tensor.tsv"
    print "#country", "organisation", "period" > file
    for (o = 1; o <= organisations; o++)
        for (c = 1; c <= countries; c++) {
            n = ((country[c], organisation[o]) in intervals) ? \
                intervals[country[c], organisation[o]] : 0
            if (!n)
                continue
            for (year = BEGINNING; year <= NOW; year += LENGTH) {
                member = 0      # years of this period
                for (i = 1; i <= n; i++) {
                    from = interval_from[country[c], organisation[o], i]
                    to = interval_to[country[c], organisation[o], i]
                    if (from < year)
                        from = year
                    if (to > year + LENGTH - 1)
                        to = year + LENGTH - 1
                    if (from <= to)
                        member += to - from + 1
                }
                if (member >= ENOUGH) {
                    print country[c], organisation[o], label[year] > file
                    ones++
                }
            }
        }
    close(file)

    printf "%d countries, %d organisations, %d periods, %d ones, %d borders\n", \
        countries, organisations, periods, ones, borders
}
' countries.tsv borders.tsv memberships.tsv

mkdir -p -- "$OUT/labels"
mv -f -- "$WORK/tensor.tsv" "$WORK/network-country.tsv" "$OUT/"
mv -f -- "$WORK/labels/country.txt" "$WORK/labels/organisation.txt" \
    "$WORK/labels/period.txt" "$OUT/labels/"
