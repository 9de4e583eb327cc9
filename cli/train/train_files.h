// A learner's functions for a training run: selection and compilation.
//
//   --mine NAME=FILE            this file's, if it passes check
//   --mine none                 none of the learner's exercises
//   --mine-unchecked NAME=FILE  this file's, right or wrong
//
// Without an option, an exercise that the run calls is the learner's where its file passes check.
// Libraries are kept in .rankbox/mine, so that a file is compiled once.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

/// The options as typed.
struct MineOptions {
  std::vector<std::string> checked;    // NAME=FILE
  std::vector<std::string> unchecked;  // NAME=FILE
  bool none = false;
};

/// Removes these options from the arguments, and returns them.
/// Throws InvalidArgument where one lacks its value.
MineOptions take_mine_options(std::vector<std::string>& arguments);

struct MineFile {
  std::string name;     // of the exercise
  std::string library;  // that holds its function, for the backend
};

/// Checks and compiles them. Prints a line on stderr for each of the learner's exercises that is
/// left out because it does not pass.
/// Blocks until done.
///
/// @param called the exercises that the run calls
/// Throws InvalidArgument for options that fit no such exercise, Error for a file that was named
/// and does not pass or compile, in one line with kind and place.
std::vector<MineFile> prepare_mine(const MineOptions& options,
                                   const std::vector<std::string>& called,
                                   const std::string& backend);

}  // namespace rankbox::cli
