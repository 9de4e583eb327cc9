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
// ends. Without `rank` (as for the compiler, who knows none) any rank will do; without `message`,
// any text.
#pragma once

#include <string>
#include <vector>

namespace rankbox {

struct Mutant {
  std::string exercise;
  std::string name;
  std::string source;  // the whole program
  std::vector<std::string> kinds;
  std::vector<int> ranks;  // empty: any
  std::string message;

  /// "tests/mutants/broadcast_ring.toml: the last hop is missing"
  std::string title() const;
};

struct Mutants {
  std::vector<Mutant> all;
  std::vector<std::string> errors;  // entries that can not be used, each with its title
};

/// The mutants of this exercise. Throws std::runtime_error if there is no such file, or if it is no
/// TOML.
Mutants mutants_of(const std::string& exercise);

/// Checks all mutants of the chapter's exercises, in a running test case. Every one is checked,
/// whatever becomes of the others.
void check_mutants_of_chapter(int chapter);

}  // namespace rankbox
