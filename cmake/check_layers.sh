#!/bin/sh
# Fails if a file of src/ includes a layer after its own. The order is the one data flows in (docs/architecture.md).
set -eu
cd "$1/src"
layers="base tensor io model kernel sampler baselines run posterior simulate fetch"
bad=0
seen=""
for layer in $layers; do
  seen="$seen $layer"
  for used in $(grep -rhoE '^#include "[a-z]+/' "$layer" 2>/dev/null | sed 's/#include "//; s,/,,' | sort -u); do
    case " $seen ztp " in
      *" $used "*) ;;
      *) echo "src/$layer includes $used/, a later layer:" >&2; grep -rnE "^#include \"$used/" "$layer" >&2; bad=1 ;;
    esac
  done
done
exit $bad
