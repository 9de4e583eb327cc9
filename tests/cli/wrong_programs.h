// Wrong programs with more to say than a mutant: tests/judge/wrong.toml, and knowing.toml.
//
// A table is named after its program, and has
//   exercise   which it is handed in for
//   kind       of its failure
//   rank       of its failure; any by default
//   message    part of that failure's message
//   program    #includes besides the exercise's header, and what follows in namespace rankbox
#pragma once

#include <string>
#include <vector>

namespace rankbox {

struct WrongProgram {
  std::string name;
  std::string exercise;
  std::string kind;
  int rank;  // -1: any
  std::string message;
  std::string path;  // from the project's root, of the file that has it
};

/// Writes the programs of tests/judge/TABLE.toml into the project, and returns them in the table's
/// order. Throws toml::parse_error.
std::vector<WrongProgram> wrong_programs(const std::string& table);

/// Returns the path of one of wrong.toml's, likewise written.
std::string wrong_program(const std::string& name);

}  // namespace rankbox
