#!/usr/bin/env bash
# Names, for a linker's response file, those of the libraries given as arguments (libstdc++.a) that
# the compiler $1 has: what is linked from an archive need not be on the machine that the program is
# copied to. What there is no archive of is found as a shared library later on the command line.
set -euo pipefail
compiler=$1
shift
for library in "$@"; do
  path=$("$compiler" -print-file-name="$library")
  [[ $path != /* ]] || printf '%s\n' "$path"
done
