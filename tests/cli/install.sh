#!/bin/sh
# `make install` gives a library that a project outside the tree finds and uses.
. "$2/tests/cli/common.sh.inc"

build_dir=$(dirname "$ztp")
cmake --install "$build_dir" --prefix "$work/prefix" >/dev/null
[ -x prefix/bin/ztp ] || { echo "FAILED: the program is not installed"; failed=1; }
flags=$(sed -n 's/^ZTP_SANITIZE:STRING=//p' "$build_dir/CMakeCache.txt")
cmake -S "$source_dir/examples/cpp" -B example -DCMAKE_PREFIX_PATH="$work/prefix" \
  ${flags:+-DCMAKE_CXX_FLAGS=-fsanitize=$flags} >/dev/null
cmake --build example >build.txt 2>&1 || { cat build.txt; exit 1; }
sh "$source_dir/data/world/generate.sh" world
expect 0 'P(Norway, NATO, 2020-24)' ./example/example world run
finish
