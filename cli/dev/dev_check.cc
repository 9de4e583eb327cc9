#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/dev/dev.h"
#include "cli/dev/mutants.h"
#include "cli/exercise/grade.h"
#include "cli/exercise/guide.h"
#include "cli/plugin/compile.h"
#include "cli/plugin/plugin.h"
#include "cli/support/child.h"
#include "cli/support/paths.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"
#include "files/git_blob.h"
#include "files/temporary_folder.h"
#include "judge/catalog.h"
#include "judge/run_case.h"
#include "judge/verdict_text.h"

namespace rankbox::cli {

namespace {

constexpr std::size_t kFewestHints = 3;
constexpr const char* kUnwritten = "TODO";

/// Returns a few words if the check passes. Throws Error with the problem.
using CheckOf = std::function<std::string(const Exercise&)>;

Verdict verdict_on(const Exercise& exercise, const std::string& file, double seconds = 60) {
  GradeOptions options;
  options.file = file;
  options.seconds = seconds;
  options.command = fmt::format("./rankbox check {} --file FILE", exercise.name);
  return grade(exercise, options).verdict;
}

std::string check_registered(const Exercise& exercise) {
  parameters_of(exercise);
  subject_of(exercise);
  if (exercise.summary.find(kUnwritten) != std::string::npos) {
    throw Error(fmt::format("its summary is not written: \"{}\"", exercise.summary));
  }
  return fmt::format("family {}, cost {}", exercise.family,
                     is_cost_of_solution(exercise) ? "of the solution"
                     : exercise.cost.empty()       ? "known to the family"
                                                   : exercise.cost);
}

std::string check_stub_id(const Exercise& exercise) {
  const std::string path = stub_path(exercise);
  std::string id = git_blob_id(text_of(path)).substr(0, kStubDigits);
  if (id == exercise.stub) return id;
  throw Error(
      fmt::format("{} has the id {}, the registry says {}: if this is what is handed out, "
                  "write stub = \"{}\"; else ./rankbox reset {}",
                  path, id, exercise.stub, id, exercise.name));
}

std::string check_stub(const Exercise& exercise) {
  const Verdict verdict = verdict_on(exercise, absolute_path(stub_path(exercise)));
  if (verdict.passed()) throw Error("it passes: nothing is left to do");
  if (verdict.status == Status::kError) throw Error(to_text(verdict));
  const std::string kind = name_of(verdict.failure->kind);
  // Some exercises start from a wrong program instead of a stub.
  const bool throws = text_of(stub_path(exercise)).find("NotImplemented(") != std::string::npos;
  if (throws && verdict.status != Status::kNotImplemented) {
    throw Error(fmt::format("it should fail as not implemented\n{}", to_text(verdict)));
  }
  return throws ? "not implemented" : "a wrong program: " + kind;
}

std::string check_solution(const Exercise& exercise) {
  const Verdict verdict = verdict_on(exercise, absolute_path(solution_path(exercise)));
  if (!verdict.passed()) throw Error(to_text(verdict));
  return "passes";
}

/// Runs in this process: the solution has passed, and the author trusts it.
std::string check_example(const Exercise& exercise) {
  if (!sends_messages(exercise)) return "none: there are no messages";
  if (exercise.example.empty()) {
    throw Error("the registry should have example and example_cost, worked out by hand");
  }
  const TemporaryFolder temporary;
  const std::string library = temporary.path("solution.so");
  const Compiled compiled = compile(exercise, solution_path(exercise), library);
  if (compiled.failure) throw Error(compiled.failure->message);
  const LoadedFunction loaded = load_function(library, signature(exercise));
  if (loaded.function == nullptr) throw Error(loaded.problem);
  const Subject subject = subject_of(exercise, loaded.function);
  const Case example = parse_case(exercise.example, subject.cases().front());
  const CaseRun run = run_case(subject, example);
  if (run.failure) throw Error(run.failure->message);
  const Cost& actual = run.report.cost;
  const Cost& expected = exercise.example_cost;
  const auto in_words = [](const Cost& cost) {
    return fmt::format("{:g} steps, {:g} bytes, {:g} reduced", cost.steps, cost.bytes,
                       cost.reduced);
  };
  if (in_words(actual) == in_words(expected)) return in_words(actual);
  throw Error(fmt::format("{}: the registry says {}, the solution takes {}", exercise.example,
                          in_words(expected), in_words(actual)));
}

std::string check_mutants(const Exercise& exercise) {
  const Mutants mutants = mutants_of(exercise);
  std::string wrong;
  for (const std::string& error : mutants.errors) wrong += error + "\n";
  const TemporaryFolder temporary;
  for (const Mutant& mutant : mutants.all) {
    const std::string file = temporary.path("mutant.cc");
    std::ofstream(file) << mutant.source;
    const std::string complaint = complaints(mutant, verdict_on(exercise, file, mutant.seconds()));
    if (!complaint.empty()) wrong += fmt::format("{}: {}", mutant.name, complaint);
  }
  if (!wrong.empty()) throw Error(wrong);
  if (mutants.all.size() < kFewestMutants) {
    throw Error(fmt::format("{} has {}, should have {} at least", mutants_path(exercise),
                            mutants.all.size(), kFewestMutants));
  }
  return fmt::format("all {} fail for the right reason", mutants.all.size());
}

std::string check_variants(const Exercise& exercise) {
  const std::vector<std::string> files = variants_of(exercise);
  for (const std::string& file : files) {
    const Verdict verdict = verdict_on(exercise, absolute_path(file));
    if (!verdict.passed()) throw Error(fmt::format("{}:\n{}", file, to_text(verdict)));
    if (!text_of(file).starts_with("// ")) {
      throw Error(fmt::format("{} should begin with a comment that says what is different", file));
    }
  }
  if (files.size() < kFewestVariants) {
    throw Error(fmt::format("{} has {}, should have {} at least", variants_path(exercise),
                            files.size(), kFewestVariants));
  }
  return fmt::format("all {} pass", files.size());
}

std::string check_contract(const Exercise& exercise) {
  // The compiler looks in the project first.
  std::string path = contract_path(exercise);
  if (!registry().folder.empty()) path = registry().folder + "/" + path;
  const std::string text = text_of(path);
  for (const char* line : {"// Cost", "// Blocks"}) {
    if (text.find(std::string("\n") + line) == std::string::npos) {
      throw Error(fmt::format("{} has no line \"{}: …\"", path, line));
    }
  }
  if (text.find(kUnwritten) != std::string::npos) {
    throw Error(fmt::format("{} still has a {}", path, kUnwritten));
  }
  return "names cost and blocking";
}

std::string check_hints(const Exercise& exercise) {
  const std::string path = guide_path(chapter_of(exercise));
  const Guide guide = guide_of(exercise);
  if (guide.hints.size() < kFewestHints) {
    throw Error(fmt::format("{} has {} for {}, should have {} at least", path, guide.hints.size(),
                            exercise.name, kFewestHints));
  }
  for (const std::string& hint : guide.hints) {
    if (hint.empty() || hint.find(kUnwritten) != std::string::npos) {
      throw Error(
          fmt::format("{}: a hint for {} is not written: \"{}\"", path, exercise.name, hint));
    }
  }
  return fmt::format("{}", guide.hints.size());
}

std::string check_page(const Exercise& exercise) {
  const std::string path = readme_path(chapter_of(exercise));
  const std::regex word("\\b" + exercise.name + "\\b");
  if (!std::regex_search(text_of(path), word)) {
    throw Error(fmt::format("{} does not mention {}", path, exercise.name));
  }
  return "mentions it";
}

struct NamedCheck {
  const char* name;
  CheckOf check;
};

// Cheap checks first.
const NamedCheck kChecks[] = {
    {"registry", check_registered}, {"stub's id", check_stub_id}, {"contract", check_contract},
    {"hints", check_hints},         {"page", check_page},         {"stub", check_stub},
    {"solution", check_solution},   {"example", check_example},   {"mutants", check_mutants},
    {"variants", check_variants},
};

void print_indented(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) fmt::print("      {}\n", line);
}

/// Prints the result. Returns whether the check passes.
bool run_check(const Exercise& exercise, const NamedCheck& each) {
  const bool colour = use_colour();
  try {
    const std::string result = each.check(exercise);
    fmt::print("  {} {:<10} {}\n", colour ? "\033[32m✓\033[0m" : "✓", each.name, result);
  } catch (const std::exception& error) {
    if (dynamic_cast<const Interrupted*>(&error) != nullptr) throw;
    fmt::print("  {} {}\n", colour ? "\033[31m✗\033[0m" : "✗", each.name);
    print_indented(error.what());
    std::fflush(stdout);
    return false;
  }
  std::fflush(stdout);
  return true;
}

}  // namespace

bool check_exercises(const std::vector<std::string>& names) {
  std::vector<const Exercise*> chosen;
  for (const std::string& name : names) chosen.push_back(&exercise_named(name));
  if (names.empty()) {
    for (const Exercise& exercise : exercises()) chosen.push_back(&exercise);
  }

  const InterruptGuard guard;
  std::vector<std::string> incomplete;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    fmt::print("{} ({} of {})\n", chosen[i]->name, i + 1, chosen.size());
    bool passed = true;
    for (const NamedCheck& each : kChecks) passed = run_check(*chosen[i], each) && passed;
    if (!passed) incomplete.push_back(chosen[i]->name);
  }
  if (incomplete.empty()) {
    fmt::print("\n{} of {} complete\n", chosen.size(), chosen.size());
  } else {
    fmt::print("\n{} of {} incomplete: {}\n", incomplete.size(), chosen.size(),
               fmt::join(incomplete, ", "));
  }
  return incomplete.empty();
}

}  // namespace rankbox::cli
