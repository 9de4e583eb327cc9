// NAME=FILE on the command line, and options taken from another program's arguments.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rankbox::cli {

/// Removes an option, `OPTION VALUE` or `OPTION=VALUE`, from arguments that another program gets.
/// Returns its values in order. Throws InvalidArgument, "OPTION: FIX", if the last lacks its value.
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
