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

# The C++ of README.md, as a program. Its fit has fewer sweeps.
mkdir readme
python3 "$source_dir/tests/docs/blocks.py" README.md cpp | sed 's/\.rank = 50/&, .sweeps = 20/' >readme/readme.cpp
sed 's/ztp_example/readme/; s/example/readme/g' "$source_dir/examples/cpp/CMakeLists.txt" >readme/CMakeLists.txt
cmake -S readme -B readme/build -DCMAKE_PREFIX_PATH="$work/prefix" \
  ${flags:+-DCMAKE_CXX_FLAGS=-fsanitize=$flags} >/dev/null
cmake --build readme/build >build.txt 2>&1 || { cat build.txt; exit 1; }
mkdir -p lines
python3 "$source_dir/tests/docs/small_data.py" lines
(cd lines && ../readme/build/readme >/dev/null) || { echo "FAILED: the C++ of README.md"; failed=1; }
expect 0 '"rank":50' "$ztp" info lines/run

# The example links the library alone, which has no rivals; a program that links them as well has.
mkdir rivals
cat >rivals/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(rivals LANGUAGES CXX)
find_package(ztp REQUIRED)
foreach(name without with)
  add_executable(${name} rivals.cpp)
  target_link_libraries(${name} PRIVATE ztp::ztp)
endforeach()
target_link_libraries(with PRIVATE ztp::rivals)
END
cat >rivals/rivals.cpp <<'END'
#include <cstdio>
#include <ztp/ztp.hpp>

int main() try {
#ifdef ZTP_RIVALS
  ztp::add_rivals();
#endif
  ztp::FitOptions options;
  options.model = ztp::Model::logistic;
  options.rank = 2;
  options.sweeps = 10;
  ztp::fit(ztp::read_dataset({.file = "world/tensor.tsv"}, options), options, "logistic");
  std::puts("fitted");
} catch (const ztp::Error& error) {
  std::puts(error.what());
}
END
cmake -S rivals -B rivals/build -DCMAKE_PREFIX_PATH="$work/prefix" \
  ${flags:+-DCMAKE_CXX_FLAGS=-fsanitize=$flags} >/dev/null
cmake --build rivals/build >build.txt 2>&1 || { cat build.txt; exit 1; }
expect 0 'this build of ztp has no rivals' ./rivals/build/without
expect 0 'fitted' ./rivals/build/with
finish
