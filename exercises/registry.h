// The registry of exercises: exercises/registry.toml as plain data.
//
// It depends on no judge and no solution, so that programs which run on other machines can link it.
// Such programs use the text that was embedded when they were built. The command line calls
// use_registry() instead, so that a new entry needs no rebuild.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/run_options.h"

namespace rankbox {

/// A pointer to some exercise's function; its judge knows the real type.
using AnyFunction = void (*)();

struct Chapter {
  int number = 0;      // the first digits of its folder
  std::string folder;  // below exercises/, solutions/ and tests/
  std::string title;
  std::string contracts;  // the folder of the headers
};

struct Exercise {
  std::string name;
  int chapter = 0;     // its number
  int difficulty = 0;  // 1 to 5
  int importance = 0;  // 1 to 5
  std::string summary;
  std::string family;            // what judges it
  std::string cost;              // what the family holds it to; "solution": the solution's cost
  std::string messages = "any";  // the rule on who may talk to whom
  std::string example;           // a case and its cost by hand; empty: none
  Cost example_cost;
  std::vector<std::string> calls;  // other exercises whose functions the solution calls
  std::string stub;                // the first digits of git's blob id of the file as handed out
};

/// A course. Both lists are in reading order.
struct Registry {
  std::string source;  // how messages name its file
  std::string folder;  // where the files are; empty: the project's root
  std::vector<Chapter> chapters;
  std::vector<Exercise> exercises;
};

/// Digits of a stub's id.
inline constexpr std::size_t kStubDigits = 12;

/// The value of Exercise::cost that stands for the reference solution.
inline constexpr std::string_view kCostOfSolution = "solution";

/// Reads the text of a registry. `source` is how messages name it; chapters that name no folder of
/// contracts get `contracts`.
/// Throws InvalidArgument with one line that names the exercise, the field, the value and what is
/// allowed.
Registry parse_registry(std::string_view text, const std::string& source,
                        const std::string& contracts = "");

/// The registry in use: at first the embedded one.
const Registry& registry();

/// Replaces the embedded registry. `load` is called when the registry is first needed.
/// REQUIRES: registry() has not been called.
void use_registry(std::function<Registry()> load);

const std::vector<Chapter>& chapters();
const std::vector<Exercise>& exercises();

/// Null if there is none.
const Exercise* find_exercise(std::string_view name);

/// Throws InvalidArgument if there is none.
const Chapter& chapter_of(const Exercise& exercise);

/// "collectives/broadcast_ring.h", as the compiler is told to include it.
std::string contract_path(const Exercise& exercise);

/// Paths from the project's root, or absolute ones in a course outside of it:
/// "exercises/02_broadcast/broadcast_ring.cc", "solutions/…".
std::string stub_path(const Exercise& exercise);
std::string solution_path(const Exercise& exercise);
std::string guide_path(const Chapter& chapter);       // hints
std::string readme_path(const Chapter& chapter);      // the chapter's page
std::string mutants_path(const Exercise& exercise);   // known-wrong programs, a file
std::string variants_path(const Exercise& exercise);  // right programs in other styles, a folder

}  // namespace rankbox
