#!/usr/bin/env bash
# Runs a test where there is PyTorch (bazel/packages_test_all.txt); elsewhere prints so and passes.
# usage: with_torch.sh TEST.PY RANKBOX TRAIN
set -uo pipefail

# The first python3 on the path need not be the one that has the packages. Found, not imported:
# an import takes a second.
for python in python3 /usr/bin/python3; do
  if "$python" -c 'import sys; from importlib.util import find_spec
sys.exit(not (find_spec("torch") and find_spec("numpy")))' 2>/dev/null; then
    exec "$python" "$@"
  fi
done
printf 'skipped: no python3 with torch here (Debian: python3-torch)\n'
