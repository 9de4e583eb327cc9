// `rankbox dev`: makes new exercises, and checks them.
#pragma once

#include <string>
#include <vector>

namespace rankbox::cli {

struct NewExercise {
  std::string name;
  std::string chapter;  // folder
  std::string like;     // an exercise of the project that supplies family and includes
  std::string family;   // instead of `like`
};

/// Writes the skeleton, and prints the next steps. Overwrites nothing. Throws InvalidArgument for a
/// name that is taken or is no identifier, and for an unknown chapter, family or exercise.
void make_exercise(const NewExercise& wanted);

/// Checks what these exercises need besides a passing solution, or all if none is named. Prints a
/// line for each check and its problems. Returns whether all checks pass. Throws InvalidArgument
/// for an unknown name.
bool check_exercises(const std::vector<std::string>& names);

}  // namespace rankbox::cli
