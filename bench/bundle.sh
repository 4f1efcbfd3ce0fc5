#!/bin/sh
# Puts a program with the shared libraries and the loader it needs into a folder that runs on any Linux of the same
# architecture, whatever is installed there. (A static link is not to be had: Debian has fmt and Google Benchmark as
# shared libraries only.)
#   bench/bundle.sh PROGRAM FOLDER      then, on the other machine: FOLDER/run ARGS...
set -eu
[ $# -eq 2 ] || { echo "usage: $0 PROGRAM FOLDER" >&2; exit 2; }
program=$1
folder=$2
name=$(basename "$program")
if [ -e "$folder" ] && [ ! -x "$folder/run" ]; then
  echo "$folder is there and is no bundle" >&2
  exit 1
fi
rm -rf "$folder"
mkdir -p "$folder/lib"
cp "$program" "$folder/$name"
# Lines of ldd: "libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x...)", and the loader without an arrow.
ldd "$program" | awk '$2 == "=>" && $3 ~ "^/" {print $3} $1 ~ "^/" {print $1}' | while read -r library; do
  cp -L "$library" "$folder/lib/"
done
loader=$(ldd "$program" | awk '$1 ~ "^/" {print $1}')
cat >"$folder/run" <<END
#!/bin/sh
here=\$(cd "\$(dirname "\$0")" && pwd)
exec "\$here/lib/$(basename "$loader")" --library-path "\$here/lib" "\$here/$name" "\$@"
END
chmod +x "$folder/run"
