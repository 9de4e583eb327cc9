// Selects and compiles a learner's functions for a training run.
//
//   --mine NAME=FILE            this file's, if it passes check
//   --mine none                 none of the learner's exercises
//   --mine-unchecked NAME=FILE  this file's, right or wrong
//
// By default, an exercise that the run calls is the learner's if its file passes check. Libraries
// are kept in .rankbox/mine, so that a file is compiled once.
#pragma once

#include <string>
#include <vector>

#include "cli/support/named_file.h"

namespace rankbox::cli {

/// The options as typed.
struct MineOptions {
  std::vector<std::string> checked;    // NAME=FILE
  std::vector<std::string> unchecked;  // NAME=FILE
  bool none = false;
};

/// Removes these options from the arguments, and returns them. Throws InvalidArgument if one lacks
/// its value.
MineOptions take_mine_options(std::vector<std::string>& arguments);

/// Throws InvalidArgument for an option that names no exercise, or no file that can be read.
void check_mine_options(const MineOptions& options);

/// Checks and compiles them, and returns their libraries for the backend. Prints a line on stderr
/// for each learner's exercise that is skipped because it does not pass. Blocks until done.
///
/// Throws InvalidArgument for options that match no such exercise. Throws Error, with kind, place
/// and message, for a file that was named and does not pass or compile.
///
/// @param called the exercises that the run calls
std::vector<NamedFile> prepare_mine(const MineOptions& options,
                                    const std::vector<std::string>& called,
                                    const std::string& backend);

}  // namespace rankbox::cli
