// NAME=FILE on the command line: an exercise, and the learner's file for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox::cli {

/// Removes an option from the arguments, `OPTION VALUE` or `OPTION=VALUE`, and returns its values in
/// order; the other arguments are another program's. Throws InvalidArgument, "OPTION: FIX", where
/// the last one lacks its value.
std::vector<std::string> take_values(std::string_view option, std::string_view fix,
                                     std::vector<std::string>& arguments);

/// An exercise, and the file that has the learner's function for it: a source or a library.
struct NamedFile {
  std::string name;
  std::string file;
};

/// Parses NAME=FILE, the value of an option; a file's name may hold a "=". Throws InvalidArgument,
/// "OPTION TEXT: FIX", where either is missing.
NamedFile named_file(std::string_view option, std::string_view text, std::string_view fix);

}  // namespace rankbox::cli
