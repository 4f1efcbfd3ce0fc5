#!/bin/sh
# Builds the Python package, installs it into a virtual environment with what its tests need, and runs them.
#   scripts/python_tests.sh dev       with what is built in build/dev (make test), and the tests of reports in a
#                                     browser and of the docs. The environment stays for the next time, as long as
#                                     pyproject.toml is the same
#   scripts/python_tests.sh release   a release build, in build/python, and always a fresh environment (make python)
# PYTHON is the interpreter (python3), PYTEST has options for pytest.
set -eu
export PIP_DISABLE_PIP_VERSION_CHECK=1
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"

fail() {
  printf '%s\n' "The Python tests did not run: $*" >&2
  exit 1
}

install() {
  if [ -x "$venv/bin/uv" ]; then
    VIRTUAL_ENV="$PWD/$venv" "$venv/bin/uv" pip install -q --reinstall-package ztp "$@"
  else
    "$venv/bin/pip" install -q "$@"
  fi
}

case "${1:-}" in
  dev)
    venv="build/venv"
    tests="python/tests tests/browser tests/docs"
    export ZTP_COMMAND="$PWD/build/dev/ztp"
    settings="-Cbuild-dir=build/dev -Ccmake.build-type=RelWithDebInfo -Ccmake.define.ZTP_TESTS=ON
              -Ccmake.define.ZTP_PROGRAM=ON
              -Ccmake.define.ZTP_ASSERTIONS=ON" ;;
  release)
    venv="build/python-venv"
    tests="python/tests"
    export ZTP_COMMAND="$PWD/build/release/ztp"
    settings="-Cbuild-dir=build/python"
    rm -rf "$venv" ;;
  *) echo "usage: $0 dev|release" >&2; exit 2 ;;
esac

command -v "$python" >/dev/null 2>&1 || fail \
  "there is no $python. Debian: apt-get install python3 python3-dev python3-venv"
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
  fail "$python is $("$python" -V 2>&1), and 3.10 or later is needed. PYTHON=... names another one"

# What the environment was made from. One that was not finished has no such file.
made_from="$("$python" -V) $(cksum <pyproject.toml) $(cksum <scripts/python_tests.sh)"
if [ "$(cat "$venv/made-from" 2>/dev/null)" != "$made_from" ]; then
  echo "Making the virtual environment $venv"
  rm -rf "$venv"
  "$python" -m venv "$venv" || fail "$python makes no virtual environments. Debian: apt-get install python3-venv"
  # uv does in seconds what takes pip a minute, but knows nothing of pip's settings: where it gets nothing, pip does it
  # all.
  { "$venv/bin/pip" install -q uv && install scikit-build-core nanobind; } || rm -f "$venv/bin/uv"
  install scikit-build-core nanobind ||
    fail "their packages cannot be had. They come from a package index, and pip must be able to reach it" \
      "(or PIP_FIND_LINKS name a folder of wheels)"
fi
echo "Building and installing the Python package"
# The generator of the presets, so that build/dev stays one tree for both.
# shellcheck disable=SC2086  # the settings are words on purpose
CMAKE_GENERATOR=Ninja install --no-build-isolation $settings '.[test]' ||
  fail "the package or what it needs was not installed (see above)"
# Has the current axe-core in it, which looks for barriers in pages. The browser that it drives elsewhere is not needed.
[ "$tests" = python/tests ] || install --no-deps axe-playwright-python || fail "axe-playwright-python cannot be had"
# Builds the site of the docs.
[ "$tests" = python/tests ] || install -r scripts/site/requirements.txt || fail "mkdocs-material cannot be had"
echo "$made_from" >"$venv/made-from"

# shellcheck disable=SC2086
"$venv/bin/python" -m pytest -q -n 3 --dist worksteal ${PYTEST:-} $tests
