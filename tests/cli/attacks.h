// Programs that try to pass without being right: the tables in tests/attacks.
//
// A table is named after its attack, and has
//   tries         what the attack tries, after "tries "
//   exercise      which it is handed in for; broadcast_naive by default
//   kind          "compile" or "memory", the kind of its failure; else any but "compile"
//   sealed_only   true if it would succeed where ranks and judge are one process
//   seconds       of the judge, where it reaches a limit
//   x86_64_only   true if it needs that processor
// and its program. Its last #include is the exercise's header, or one of tests/attacks with it
// (attack.h, second_copy.h), which many need; the others, and the code, are
//   includes      list of what follows each other #include
//   above         text between the includes and namespace rankbox
//   before        text in that namespace, before the function
//   body          the body of the exercise's function; empty by default
//   whole         instead of these four: the text of the whole file
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "judge/verdict.h"

namespace rankbox {

struct Attack {
  std::string name;
  std::string tries;
  std::string exercise;
  FailureKind kind;  // kCompile, kMemory, or kNotImplemented for any but kCompile
  bool sealed_only;
  int seconds;
  std::string program;
};

/// Returns the attacks of all tables in the folder's *.toml that this processor can run, in the
/// order of files, then of names. Throws Error with the file and the attack if one is not valid.
std::vector<Attack> attacks_in(const std::filesystem::path& folder);

}  // namespace rankbox
