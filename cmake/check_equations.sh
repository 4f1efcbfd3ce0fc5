#!/bin/sh
# Fails if the code cites an equation, as (M7), that docs/model.md does not have, or if src/ and baselines/ cite one of
# its equations nowhere: the place where it happens is then hard to find. An equation is a number at the beginning of an
# indented line or of a list item.
set -eu
cd "$1"
code="src baselines include tests bench"
numbered=$(grep -oE '^(    |- )\(M[0-9]+\)' docs/model.md | grep -oE 'M[0-9]+' | sort -u)
bad=0
for number in $(grep -rhoE '\(M[0-9]+\)' $code | grep -oE 'M[0-9]+' | sort -u); do
  case " $(echo $numbered) " in
    *" $number "*) ;;
    *) echo "($number) is no equation of docs/model.md:" >&2; grep -rnF "($number)" $code >&2; bad=1 ;;
  esac
done
cited=$(grep -rhoE '\(M[0-9]+\)' src baselines | grep -oE 'M[0-9]+' | sort -u)
for number in $numbered; do
  case " $(echo $cited) " in
    *" $number "*) ;;
    *) echo "($number) of docs/model.md is cited nowhere in src/ and baselines/" >&2; bad=1 ;;
  esac
done
exit $bad
