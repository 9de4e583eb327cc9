#!/usr/bin/env bash
# Layout of all C++ files as .clang-format says. Prints what differs and the command that mends it;
# --fix mends it. Exit 77: no fitting clang-format here.
set -uo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." || exit 1
# shellcheck source=bazel/sources.sh
. bazel/sources.sh

# Other versions lay out differently: one version has to decide.
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
printf 'format: %d of %d files differ. Mend with: bazel/check_format.sh --fix\n' "${#wrong[@]}" "${#files[@]}"
exit 1
