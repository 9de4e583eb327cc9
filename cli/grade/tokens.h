// C++ source text as tokens for comparison: what a disguise does not change.
//
// Dropped: comments, preprocessor lines, braces, `const` and `constexpr`. One token for all
// numbers, one for all strings and characters, and one for all names and types, but for names after
// `.`, `->` and `::`: those of the library's functions cannot be changed. Keywords and operators are
// kept.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankbox::cli {

struct Token {
  std::uint64_t hash = 0;
  int line = 1;  // of its first character, from 1
};

/// Returns the tokens of any text; one that is not C++ gives some tokens, too. Thread safety: any
/// thread.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace rankbox::cli
