#!/usr/bin/env bash
# Writes the rows of the solutions' table.
# usage: make_table.sh CONTRACTS FILE...     CONTRACTS: the folder of the headers
set -euo pipefail
contracts=$1
shift
printf '#include "solutions/table.h"\n\n'
for file in "$@"; do printf '#include "%s/%s.h"\n' "$contracts" "$(basename "$file" .cc)"; done
printf '\nnamespace rankbox {\nnamespace {\n\n'
printf 'const bool kAdded = add_solutions({\n'
for file in "$@"; do
  name=$(basename "$file" .cc)
  printf '    {"%s", reinterpret_cast<AnyFunction>(&%s)},\n' "$name" "$name"
done
printf '});\n\n}  // namespace\n}  // namespace rankbox\n'
