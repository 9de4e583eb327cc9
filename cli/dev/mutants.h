// Known-wrong programs, one file an exercise: tests/mutants/<exercise>.toml.
//
//   [[mutant]]
//   name = 'the last hop is missing'          what is wrong; unique in the file
//   find = 'virtual_rank != world_size - 1'   occurs exactly once in the reference solution, …
//   replace = 'virtual_rank < world_size - 2' … and is replaced by this
//   kind = 'deadlock'                         what the verdict has to say
//   rank = 1
//   message = 'rank 0 has returned'           part of it
//
// Instead of find and replace there may be `edits`, a list of them, applied in order, or `program`,
// the text of a whole file. `kind` and `rank` may be lists, of which any will do: a message has two
// ends. Without `rank` (as for the compiler, which knows none) any rank will do; without `message`,
// any text.
#pragma once

#include <string>
#include <vector>

#include "exercises/registry.h"
#include "verdict/verdict.h"

namespace rankbox::cli {

/// How many each exercise has at least.
inline constexpr std::size_t kFewestMutants = 5;
inline constexpr std::size_t kFewestVariants = 2;

struct Mutant {
  std::string exercise;
  std::string name;
  std::string source;  // the whole program
  std::vector<std::string> kinds;
  std::vector<int> ranks;  // empty: any
  std::string message;

  /// Seconds that it may run: few where it is sure to run until the end of them.
  double seconds() const;
};

struct Mutants {
  std::vector<Mutant> all;
  std::vector<std::string> errors;  // entries that cannot be used, each with its file and name
};

/// The mutants of this exercise. Throws Error if there is no such file, or if it is no TOML.
Mutants mutants_of(const Exercise& exercise);

/// What is wrong with the verdict on a mutant, a line each, and the verdict; empty if it fails as it
/// should.
std::string complaints(const Mutant& mutant, const Verdict& verdict);

/// The right programs in other styles, by name: paths as variants_path() has them.
std::vector<std::string> variants_of(const Exercise& exercise);

}  // namespace rankbox::cli
