// Known-wrong programs, one file per exercise: tests/mutants/<exercise>.toml.
//
//   [[mutant]]
//   name = 'the last hop is missing'          what is wrong; unique in the file
//   find = 'virtual_rank != world_size - 1'   occurs exactly once in the reference solution, …
//   replace = 'virtual_rank < world_size - 2' … and is replaced by this
//   kind = 'deadlock'                         what the verdict must report
//   rank = 1
//   op = 'recv'                               the call to blame: Failure::op
//   message = 'rank 0 has returned'           part of it, without the hint
//   hint = 'never-written'                    the id of the hint: Failure::hint
//
// Instead of find and replace there may be `edits`, a list of them, applied in order, or `program`,
// the text of a whole file. `kind` and `rank` may be lists of accepted values: a message has two
// ends. Without `rank`, any rank is accepted (the compiler reports none); without `op`, any call;
// without `message`, any text; without `hint`, any hint.
#pragma once

#include <string>
#include <vector>

#include "exercises/registry.h"
#include "judge/verdict.h"

namespace rankbox::cli {

/// The minimum number of mutants per exercise.
inline constexpr std::size_t kFewestMutants = 5;
inline constexpr std::size_t kFewestVariants = 2;

struct Mutant {
  std::string exercise;
  std::string name;
  std::string source;  // the whole program
  std::vector<std::string> kinds;
  std::vector<int> ranks;  // empty: any
  std::string op;          // empty: any
  std::string message;
  std::string hint;  // empty: any

  /// Returns the time limit in seconds: short if the mutant always reaches it.
  double seconds() const;
};

struct Mutants {
  std::vector<Mutant> all;
  std::vector<std::string> errors;  // unusable entries, each with its file and name
};

/// Returns the mutants of this exercise. Throws Error if there is no such file, or if it is not
/// valid TOML.
Mutants mutants_of(const Exercise& exercise);

/// Returns a line per mismatch of a mutant's verdict, then the verdict; empty if it fails as
/// expected.
std::string complaints(const Mutant& mutant, const Verdict& verdict);

/// Returns the correct programs in other styles, by name: paths in the form of variants_path().
std::vector<std::string> variants_of(const Exercise& exercise);

}  // namespace rankbox::cli
