// The source file of a command: the learner's, the solution, or another.
#pragma once

#include <string>

#include "judge/catalog.h"

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox::cli {

struct ExerciseFile {
  std::string name;  // an exercise, or the path of its file
  std::string file;  // --file; empty: not given
  bool solution = false;
  double seconds = 10;  // that it may run
};

/// Adds NAME, --solution, --file and --timeout. `options` must outlive the parsing.
/// @param verb what the command does with it, for the help: "grade"
void add_exercise_file(CLI::App& command, ExerciseFile& options, const std::string& verb);

/// Hands over to rankbox-more if this program has no judge of the exercise: `rankbox` has those of
/// chapters 1 to 5. See use_rankbox_more().
void require_judge(const Exercise& exercise);

/// Returns the path of the file. Throws InvalidArgument for options that contradict each other, and
/// for seconds outside (0, 3600].
std::string path_of(const ExerciseFile& options, const Exercise& exercise);

}  // namespace rankbox::cli
