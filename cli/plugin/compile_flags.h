// The compiler and the flags of a learner's file, for its compilation and for editors.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// Returns $CXX in words; c++ if it is not set.
std::vector<std::string> compiler_words();

/// Returns the flags that decide how a source is read: language, warnings, folders of headers.
/// Paths are relative to the project's root.
std::vector<std::string> reading_flags();

/// Returns the flags that include a header for older clangs, which find the lines of calls with it.
/// It is empty for all other compilers. Goes after a precompiled header.
std::vector<std::string> clang_header_flags();

}  // namespace rankbox::cli
