#!/bin/sh
# Builds the documentation as a site, build/docs/index.html, which needs no server and no network. Dead links and
# anchors fail it. Needs the report of the demo (make demo). PYTHON is the interpreter (python3).
set -eu
export PIP_DISABLE_PIP_VERSION_CHECK=1 NO_MKDOCS_2_WARNING=1
cd "$(dirname "$0")/../.."
python="${PYTHON:-python3}"
venv="build/docs-venv"

# The environment stays for the next time. One that was not finished has no such file.
made_from="$("$python" -V) $(cksum <scripts/site/requirements.txt)"
if [ "$(cat "$venv/made-from" 2>/dev/null)" != "$made_from" ]; then
  echo "Making the virtual environment $venv"
  rm -rf "$venv"
  "$python" -m venv "$venv"
  "$venv/bin/pip" install -q -r scripts/site/requirements.txt || {
    echo "The site was not built: its packages come from a package index, and pip must be able to reach it" \
      "(or PIP_FIND_LINKS name a folder of wheels)" >&2
    exit 1
  }
  echo "$made_from" >"$venv/made-from"
fi
"$venv/bin/python" scripts/site/pages.py build/docs-source "${1:-build/demo/report.html}"
"$venv/bin/mkdocs" build --strict --clean -f scripts/site/mkdocs.yml >build/docs.log 2>&1 || {
  cat build/docs.log
  exit 1
}
rm build/docs/404.html # for servers
"$venv/bin/python" scripts/site/links.py build/docs
echo "The site is in build/docs. Open it in a browser: $PWD/build/docs/index.html"
