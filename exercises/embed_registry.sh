#!/usr/bin/env bash
# Writes registry_text.cc: the file named as argument, as a string literal. A literal has at most
# 64 KiB, so the text is cut at chapters.
set -euo pipefail
printf '%s\n' '#include "exercises/registry_text.h"' '' 'namespace rankbox {' '' \
  'const char* registry_text() {' '  return R"toml('
sed 's/^\[\[chapter\]\]$/)toml" R"toml([[chapter]]/' "$1"
printf '%s\n' ')toml";' '}' '' '}  // namespace rankbox'
