#!/usr/bin/env bash
# Writes preset_files.cc: the files named as arguments, as string literals.
set -euo pipefail
printf '%s\n' '#include "sim/clusters/preset_files.h"' '' 'namespace rankbox {' '' \
  'const std::vector<PresetFile>& preset_files() {' \
  '  static const std::vector<PresetFile> files = {'
for file in "$@"; do
  printf '      {"%s", R"toml(' "$file"
  cat "$file"
  printf ')toml"},\n'
done
printf '%s\n' '  };' '  return files;' '}' '' '}  // namespace rankbox'
