// Checks of an exercise, each with the message, place and replay line that `check` prints.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "exercises/registry.h"
#include "judge/judge.h"

namespace rankbox {

/// A judgement of an exercise.
struct Judged {
  const Exercise* exercise = nullptr;
  std::string file;  // of the function: the place of failures that have none
  std::string command;
  Verdict verdict;  // on all cases
  /// A verdict on the cases of each world size (or number of threads), named "5 ranks". All of them
  /// are `verdict` if that finds all values right. None of a function that is not implemented.
  std::vector<std::pair<std::string, Verdict>> worlds;

  bool is_implemented() const { return verdict.status != Status::kNotImplemented; }
};

/// Judges a function on all cases, and on those of each world size if a value is wrong.
/// @param file of the function, from the project's root
/// @param command the start of a replay line
Judged judged(const Exercise& exercise, AnyFunction function, AnyFunction solution,
              const std::string& file, const std::string& command);

/// Passes the running test case if the verdict, on a world size or all cases, finds all values
/// right.
void expect_values(const Judged& judged, const Verdict& verdict);

/// Passes the running test case if this check ("messages", "cost", "safety", "memory") passed.
/// Passes over the test case on backends that judge only values, and if nothing is implemented:
/// that is a failure of the values alone.
void expect_pass(const Judged& judged, const std::string& check);

/// Passes the running test case if the exercise's worked example has exactly the cost that was
/// worked out by hand. Passes over the test case where expect_pass does.
void expect_example_cost(const Judged& judged, const Subject& subject);

}  // namespace rankbox
