#!/bin/sh
# Puts what `make test-cuda` and `ztp bench --only cuda` run, with the shared libraries it needs, into a folder that can
# be taken to a machine with a GPU and little else.
#   scripts/cuda_bundle.sh BUILD FOLDER PROGRAM...     then, on the other machine: FOLDER/run PROGRAM ARGS...
set -eu
[ $# -ge 3 ] || { echo "usage: $0 BUILD FOLDER PROGRAM..." >&2; exit 2; }
build=$1
folder=$2
shift 2
if [ -e "$folder" ] && [ ! -x "$folder/run" ]; then
  echo "$folder is there and is no bundle" >&2
  exit 1
fi
rm -rf "$folder"
mkdir -p "$folder/lib"
for program in "$@"; do
  cp "$build/$program" "$folder/"
  strip "$folder/$(basename "$program")"
  # Lines of ldd: "libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x...)", and the loader without an arrow.
  ldd "$build/$program" | awk '$2 == "=>" && $3 ~ "^/" {print $3} $1 ~ "^/" {print $1}' | while read -r library; do
    cp -Lu "$library" "$folder/lib/"
  done
done
cp "$build/libztp_cuda.so" "$folder/"
cat >"$folder/run" <<'END'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
program=$1
shift
exec "$here"/lib/ld-linux-* --library-path "$here/lib:${LD_LIBRARY_PATH:-}" "$here/$program" "$@"
END
chmod +x "$folder/run"
