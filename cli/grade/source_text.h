// Submitted files, read without trusting what they are.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// A file with its helpers: headers in the same folder that it may include.
struct SourceText {
  struct Helper {
    std::string name;
    std::string text;
  };
  std::string text;
  std::vector<Helper> helpers;
  std::string refused;                     // why it is no source file; empty: it is one
  std::vector<std::string> left_out = {};  // a line about each header that is not read
};

/// Reads regular files of at most 1 MiB, and follows no links. Throws Error if the system does not
/// let us read a file, which is not the student's mistake.
/// @param with_helpers also the headers beside it
SourceText read_source(const std::string& path, bool with_helpers);

}  // namespace rankbox::cli
