// Known-wrong programs, one file an exercise: tests/mutants/<exercise>.toml.
//
//   [[mutant]]
//   name = 'the last hop is missing'          what is wrong; unique in the file
//   find = 'virtual_rank != world_size - 1'   occurs exactly once in the reference solution, …
//   replace = 'virtual_rank < world_size - 2' … and is replaced by this
//   kind = 'deadlock'                         what the verdict must say
//   rank = 1
//   message = 'rank 0 has returned'           part of it
//
// Instead of find and replace there may be `edits`, a list of them, applied in order, or `program`,
// the text of a whole file. `kind` and `rank` may be lists of accepted values: a message has two
// ends. Without `rank`, any rank is accepted (the compiler reports none); without `message`, any
// text.
#pragma once

#include <string>
#include <vector>

#include "exercises/registry.h"
#include "verdict/verdict.h"

namespace rankbox::cli {

/// The least number of mutants of an exercise.
inline constexpr std::size_t kFewestMutants = 5;
inline constexpr std::size_t kFewestVariants = 2;

struct Mutant {
  std::string exercise;
  std::string name;
  std::string source;  // the whole program
  std::vector<std::string> kinds;
  std::vector<int> ranks;  // empty: any
  std::string message;

  /// The time limit in seconds: short if the mutant always reaches it.
  double seconds() const;
};

struct Mutants {
  std::vector<Mutant> all;
  std::vector<std::string> errors;  // entries that cannot be used, each with its file and name
};

/// The mutants of this exercise. Throws Error if there is no such file, or if it is not valid TOML.
Mutants mutants_of(const Exercise& exercise);

/// The mismatches of a mutant's verdict, a line each, then the verdict; empty if it fails as it
/// should.
std::string complaints(const Mutant& mutant, const Verdict& verdict);

/// The right programs in other styles, by name: paths as variants_path() has them.
std::vector<std::string> variants_of(const Exercise& exercise);

}  // namespace rankbox::cli
