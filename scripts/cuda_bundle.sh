#!/bin/sh
# Puts the tests of the kernel for GPUs, the program and the benchmarks, with the shared libraries they need, into a
# folder that can be taken to a machine with a GPU and little else (make cuda-bundle).
#   scripts/cuda_bundle.sh DEV RELEASE FOLDER      then, on the other machine: FOLDER/test, or FOLDER/run PROGRAM ARGS...
set -eu
[ $# -eq 3 ] || { echo "usage: $0 DEV RELEASE FOLDER" >&2; exit 2; }
dev=$1
release=$2
folder=$3
if [ -e "$folder" ] && [ ! -x "$folder/run" ]; then
  echo "$folder is there and is no bundle" >&2
  exit 1
fi
rm -rf "$folder"
mkdir -p "$folder/lib"
for program in "$release/ztp" "$release/ztp-bench" "$dev/tests/kernel_tests" "$dev/tests/sampler_tests" \
  "$dev"/tests/counts_dist_test "$dev"/tests/columns_dist_test "$dev"/tests/gamma_dist_test \
  "$dev"/tests/exact_calibration_test "$dev"/tests/joint_calibration_test; do
  [ -e "$program" ] || continue
  cp "$program" "$folder/"
  strip "$folder/$(basename "$program")"
  # Lines of ldd: "libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x...)", and the loader without an arrow.
  ldd "$program" | awk '$2 == "=>" && $3 ~ "^/" {print $3} $1 ~ "^/" {print $1}' | while read -r library; do
    cp -Lu "$library" "$folder/lib/"
  done
done
cp "$release/libztp_cuda.so" "$folder/"
here=$(dirname "$0")
cp "$here/cuda_tests.sh" "$folder/test"
cat >"$folder/run" <<'END'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
program=$1
shift
exec "$here"/lib/ld-linux-* --library-path "$here/lib:${LD_LIBRARY_PATH:-}" "$here/$program" "$@"
END
chmod +x "$folder/run" "$folder/test"
