// `rankbox dev new`: the files of an exercise, to be filled in.
#pragma once

#include <string>

namespace rankbox::cli {

struct NewExercise {
  std::string name;
  std::string chapter;  // folder
  std::string like;     // an exercise of the project whose family and includes it takes
  std::string family;   // instead of `like`
};

/// Writes the skeleton, and prints what to do next. Nothing is overwritten.
/// Throws InvalidArgument for a name that is taken or is no identifier, and for an unknown chapter,
/// family or exercise.
void make_exercise(const NewExercise& wanted);

}  // namespace rankbox::cli
