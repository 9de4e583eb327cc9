#!/usr/bin/env bash
# Runs a test where there is Jupyter (bazel/packages_test_all.txt); elsewhere prints so and passes.
# usage: with_jupyter.sh TEST.PY RANKBOX
set -uo pipefail

# Its own writable project, for precompiled headers and Jupyter's files.
export HOME=${TEST_TMPDIR:-$(mktemp -d)}
cp -rL "$PWD" "$HOME/project" && cd "$HOME/project" || exit 1
export RANKBOX_CLI=$PWD/$2 RANKBOX_ROOT=$PWD
# The first python3 on the path need not be the one that has the packages.
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import matplotlib, nbconvert, ipykernel' 2>/dev/null; then
    exec "$python" "$1"
  fi
done
printf 'skipped: no python3 with matplotlib, nbconvert and ipykernel here\n'
