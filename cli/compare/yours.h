// The learner's files in a comparison, and their compilation for a backend.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/compare/plan/plan.h"

namespace rankbox::cli {

/// A learner's file for a comparable exercise.
struct YourFile {
  std::string exercise;
  CollectiveKind collective;
  std::string algorithm;  // "ring"
  std::string file;       // an absolute path
};

/// Parses --mine: NAME=FILE, "none" or "only". Without a file, returns the learner's file for each
/// exercise of the plan's collectives and algorithms that is no longer the stub. Throws
/// InvalidArgument, in one line, for invalid values.
std::vector<YourFile> your_files(const std::vector<std::string>& mine, const Plan& plan);

/// Compiled libraries, and the failures of files that do not compile.
struct Compilations {
  std::vector<NamedFile> libraries;
  std::map<std::string, RowFailure> failures;  // by exercise
};

/// Compiles the files into `folder`, as EXERCISE-BACKEND.so. Blocks for about a second per file.
/// Throws InvalidArgument for a file that cannot be read, Error where there is no compiler.
Compilations compile_yours(const std::vector<YourFile>& files, const std::string& backend,
                           const std::string& folder);

}  // namespace rankbox::cli
