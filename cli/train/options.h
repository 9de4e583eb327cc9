// The command line of rankbox-train.
#pragma once

#include <string>
#include <vector>

#include "training/run/plan.h"

namespace rankbox::train {

/// The parsed command line.
struct Request {
  bool shows_help = false;
  std::string help;
  bool shows_exercises = false;  // --exercises: prints exercises_of(plan), for ./rankbox train
  Plan plan;
  bool json = false;   // prints only one object at the end
  bool quiet = false;  // prints only the result
  bool timeline = false;
  std::string log;  // the file of --log; "": none
};

/// Throws InvalidArgument, in one line, for invalid options.
/// @param arguments argv, the program's name first
Request parse_options(const std::vector<std::string>& arguments);

}  // namespace rankbox::train
