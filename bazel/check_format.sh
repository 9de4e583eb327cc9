#!/usr/bin/env bash
# Checks the layout of all C++ files against .clang-format. Prints the files that differ and the
# command that fixes them; --fix fixes them. Exit 77: no suitable clang-format.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 1
# shellcheck source=bazel/sources.sh
. bazel/sources.sh

# Versions differ in layout: one version has to decide.
format=$(clang_tool clang-format) || exit 77

mapfile -t files < <(cpp_files '*.cc' '*.h' '*.cu' '*.cuh')
((${#files[@]} > 0)) || exit 0

if [[ ${1-} == --fix ]]; then
  "$format" -i "${files[@]}"
  exit
fi

"$format" --dry-run --Werror "${files[@]}" 2>/dev/null && exit 0

mapfile -t wrong < <(for file in "${files[@]}"; do
  "$format" --dry-run --Werror "$file" 2>/dev/null || printf '%s\n' "$file"
done)
for file in "${wrong[@]}"; do
  "$format" "$file" | diff -u --label "$file" --label "$file (formatted)" "$file" -
done | head -n 300
printf 'format: %d of %d files differ. Fix with: bazel/check_format.sh --fix\n' \
  "${#wrong[@]}" "${#files[@]}"
exit 1
