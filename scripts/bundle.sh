#!/bin/sh
# Puts programs with the shared libraries and the loader they need into a folder that runs on any Linux of the same
# architecture, whatever is installed there. (A static link is not to be had: Debian has fmt and Google Benchmark as
# shared libraries only.)
#   scripts/bundle.sh FOLDER PROGRAM...      then, on the other machine: FOLDER/run PROGRAM ARGS...
# Where there is one program, FOLDER/run ARGS... runs it.
set -eu
[ $# -ge 2 ] || { echo "usage: $0 FOLDER PROGRAM..." >&2; exit 2; }
folder=$1
shift
if [ -e "$folder" ] && [ ! -x "$folder/run" ]; then
  echo "$folder is there and is no bundle" >&2
  exit 1
fi
rm -rf "$folder"
mkdir -p "$folder/lib"
for program in "$@"; do
  cp "$program" "$folder/"
  strip "$folder/$(basename "$program")"
  # Lines of ldd: "libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x...)", and the loader without an arrow.
  ldd "$program" | awk '$2 == "=>" && $3 ~ "^/" {print $3} $1 ~ "^/" {print $1}' | while read -r library; do
    cp -Lu "$library" "$folder/lib/"
  done
done
{
  echo '#!/bin/sh'
  if [ $# -eq 1 ]; then echo "set -- '$(basename "$1")' \"\$@\""; fi
  cat <<'END'
here=$(cd "$(dirname "$0")" && pwd)
program=$1
shift
exec "$here"/lib/ld-linux-* --library-path "$here/lib:${LD_LIBRARY_PATH:-}" "$here/$program" "$@"
END
} >"$folder/run"
chmod +x "$folder/run"
