#!/bin/sh
# Fails if a file of src/ or baselines/ includes a layer that is not before its own in this list: the order in which
# data flow (docs/architecture.md). Behind the colon: the layers before it that a layer must do without. What reads a
# run knows nothing of what made it, and nothing in src/ knows baselines.
set -eu
cd "$1/src"
bad=0
seen=""
while IFS=: read -r layer without; do
  seen="$seen $layer"
  case $layer in baselines) folder=../baselines ;; *) folder=$layer ;; esac
  for used in $(grep -rhoE '^#include "[a-z]+/' "$folder" | sed 's/#include "//; s,/,,' | sort -u); do
    case " $without " in
      *" $used "*) allowed=no ;;
      *) case " $seen ztp " in *" $used "*) allowed=yes ;; *) allowed=no ;; esac ;;
    esac
    if [ $allowed = no ]; then
      echo "$layer must not include $used/:" >&2
      grep -rnE "^#include \"$used/" "$folder" >&2
      bad=1
    fi
  done
done <<END
base:
comm:
options: comm
tensor: comm options
io: comm options
model: comm tensor io
evaluate: comm options tensor io model
kernel: io options
store: comm kernel
sampler: io store options
diagnose: comm options tensor io model kernel sampler
run:
posterior: comm sampler run
simulate: comm options kernel store sampler run posterior
report: comm sampler run
baselines: comm store posterior simulate report
END
# The Python module uses the public headers and its own alone.
if grep -nE '^#include "' ../python/src/* | grep -vE '"(ztp/[a-z_]+|bindings|shared_posterior)\.hpp"' >&2; then
  echo "python/src must include public headers (ztp/*.hpp) alone" >&2
  bad=1
fi
for layer in */; do
  case " $seen " in *" ${layer%/} "*) ;; *) echo "src/$layer is in no layer of cmake/check_layers.sh" >&2; bad=1 ;; esac
done
exit $bad
