// `rankbox dev new`: the files of a new exercise, to be filled in.
#pragma once

#include <string>

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

}  // namespace rankbox::cli
