// The registry of exercises: exercises/registry.toml as plain data.
//
// It depends on no judge and no solution, so that programs that run on other machines can link it.
// Such programs use the text that was embedded at build time. The command line calls use_registry()
// instead, so that a new entry needs no rebuild.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/run_options.h"

namespace rankbox {

/// A pointer to the function of any exercise; its judge knows the real type.
using AnyFunction = void (*)();

struct Chapter {
  int number = 0;      // the first digits of its folder
  std::string folder;  // below exercises/, solutions/ and tests/
  std::string title;
  std::string contracts;  // the folder of the headers
  int hours = 0;          // that it takes, about; 0: not said
};

struct Exercise {
  std::string name;
  int chapter = 0;     // its number
  int difficulty = 0;  // 1 to 5
  int importance = 0;  // 1 to 5
  std::string summary;
  std::string family;            // the family that judges it
  std::string cost;              // the promised cost; "solution": the solution's cost
  std::string messages = "any";  // the rule about which ranks may exchange messages
  std::string example;           // a case and its cost, worked out by hand; empty: none
  Cost example_cost;
  std::vector<std::string> calls;  // other exercises whose functions it may call
  std::string stub;                // the first digits of git's blob id of the stub
};

/// A course. Both lists are in reading order.
struct Registry {
  std::string source;  // the name of its file in messages
  std::string folder;  // the folder of the files; empty: the project's root
  std::vector<Chapter> chapters;
  std::vector<Exercise> exercises;
};

/// Digits of a stub's id.
inline constexpr std::size_t kStubDigits = 12;

/// The value of Exercise::cost that stands for the reference solution.
inline constexpr std::string_view kCostOfSolution = "solution";

/// Reads the text of a registry. `source` is its name in messages; chapters without a folder of
/// contracts get `contracts`.
/// Throws InvalidArgument with one line that names the exercise, the field, the value and what is
/// allowed.
Registry parse_registry(std::string_view text, const std::string& source,
                        const std::string& contracts = "");

/// The registry in use: the embedded one, unless use_registry() replaced it.
const Registry& registry();

/// Replaces the embedded registry. `load` is called when the registry is first needed.
/// REQUIRES: registry() has not been called.
void use_registry(std::function<Registry()> load);

const std::vector<Chapter>& chapters();
const std::vector<Exercise>& exercises();

/// Returns null if there is none.
const Exercise* find_exercise(std::string_view name);

/// Throws InvalidArgument if there is none.
const Chapter& chapter_of(const Exercise& exercise);

/// "collectives/broadcast_ring.h", as in an #include.
std::string contract_path(const Exercise& exercise);

/// The same as a path, as below.
std::string header_path(const Exercise& exercise);

/// Paths from the project's root, or absolute paths in a course outside it:
/// "exercises/02_broadcast/broadcast_ring.cc", "solutions/…".
std::string stub_path(const Exercise& exercise);
std::string solution_path(const Exercise& exercise);
std::string guide_path(const Chapter& chapter);       // hints
std::string readme_path(const Chapter& chapter);      // the chapter's page
std::string mutants_path(const Exercise& exercise);   // known-wrong programs, a file
std::string variants_path(const Exercise& exercise);  // right programs in other styles, a folder

}  // namespace rankbox
