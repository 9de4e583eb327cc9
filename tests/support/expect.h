// Checks of an exercise, each with the message, place and replay line that `check` prints.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "exercises/registry.h"
#include "verdict/judge.h"

namespace rankbox {

/// A judgement of an exercise.
struct Judged {
  const Exercise* exercise = nullptr;
  std::string file;  // of the function: the place of failures that have none
  std::string command;
  Verdict verdict;  // on all cases
  /// A verdict on the cases of each world size (or number of threads), named "5 ranks". All of them
  /// are `verdict` if that finds all values right.
  std::vector<std::pair<std::string, Verdict>> worlds;
};

/// Judges a function on all cases, and on those of each world size if a value is wrong.
/// @param file of the function, from the project's root
/// @param command the start of a replay line
Judged judged(const Exercise& exercise, AnyFunction function, AnyFunction solution,
              const std::string& file, const std::string& command);

/// Passes the running test case if the verdict on this world size finds all values right.
void expect_values(const Judged& judged, const Verdict& world);

/// Passes the running test case if this check ("messages", "cost", "safety", "memory") passed. On
/// backends that judge only values, passes over the test case.
void expect_pass(const Judged& judged, const std::string& check);

/// Passes the running test case if the exercise's worked example has exactly the cost that was
/// worked out by hand, where the backend counts costs.
void expect_example_cost(const Judged& judged, const Subject& subject);

}  // namespace rankbox
