#!/bin/sh
# Succeeds if clang++ can build a fuzz target here.
command -v clang++ >/dev/null || exit 1
program=$(mktemp) || exit 1
echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
  clang++ -x c++ -fsanitize=fuzzer,address - -o "$program" 2>/dev/null
result=$?
rm -f "$program"
exit $result
