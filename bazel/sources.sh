# shellcheck shell=bash
# Shared by the checks; sourced from the repository's root.

# Layout and findings differ between releases of the clang tools: this one decides.
CLANG_VERSION=14

# Files that match the patterns: tracked ones and new ones that git does not ignore.
cpp_files() {
  if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    git ls-files -co --exclude-standard -- "$@"
  else
    # An unpacked archive: everything except the files that Bazel and ./rankbox create.
    local pattern tests=()
    for pattern in "$@"; do tests+=(-o -name "$pattern"); done
    find . \( -name 'bazel-*' -o -name '.?*' \) -prune -o -type f \( "${tests[@]:1}" \) -print |
      sed 's|^\./||'
  fi | sort -u | while IFS= read -r file; do
    # Deleted, but not committed yet: still listed by git.
    [[ -f $file ]] && printf '%s\n' "$file"
  done
}

# Prints the command for clang tool $1 in the deciding version; fails, saying why, without one.
clang_tool() {
  local candidate
  for candidate in "$1-$CLANG_VERSION" "$1"; do
    if "$candidate" --version 2>/dev/null | grep -q "version $CLANG_VERSION\."; then
      printf '%s\n' "$candidate"
      return
    fi
  done
  printf '%s: version %s decides and is not here: not checked\n' "$1" "$CLANG_VERSION" >&2
  return 1
}
