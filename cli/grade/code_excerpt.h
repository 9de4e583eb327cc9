// The lines of a submitted file around a failure, for the page.
#pragma once

#include <compare>
#include <string>
#include <tuple>

#include "cli/grade/source_text.h"
#include "judge/verdict.h"

namespace rankbox::cli {

/// Lines of a file. An equal file with an equal failure has an equal excerpt.
struct CodeExcerpt {
  std::string file = {};  // the exercise's, or a helper's
  std::string text = {};  // lines with their ends, visible (judge/visible_text.h); empty: none
  int first = 1;          // the number of the first line in `text`
  int lines = 0;          // of the whole file

  bool operator<(const CodeExcerpt& other) const {
    return std::tie(file, text, first, lines) <
           std::tie(other.file, other.text, other.first, other.lines);
  }
};

inline constexpr int kMostExcerptLines = 300;
inline constexpr int kMostExcerptColumns = 200;  // bytes of a line; "…" stands for the rest

/// Returns the lines around the failure: of the helper that it names, or of `file`. The limits
/// above bound the result to about 60 KB. A failure without a line shows the file's beginning.
CodeExcerpt excerpt_of(const SourceText& source, const std::string& file, const Failure& failure);

}  // namespace rankbox::cli
