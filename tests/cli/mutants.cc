#include "tests/cli/mutants.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string_view>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "tests/cli/command.h"
#include "verdict/catalog.h"
#include "verdict/verdict_text.h"

namespace rankbox {

namespace {

constexpr std::size_t kMostLines = 12;
constexpr std::size_t kLongestReplay = 256;

std::string path_of(const std::string& exercise) { return "tests/mutants/" + exercise + ".toml"; }

void check_fields(const toml::table& table) {
  static constexpr std::array<std::string_view, 8> kFields = {
      "name", "find", "replace", "edits", "program", "kind", "rank", "message"};
  for (const auto& [key, value] : table) {
    if (std::find(kFields.begin(), kFields.end(), key.str()) == kFields.end()) {
      throw std::runtime_error(fmt::format("there is no field '{}'", key.str()));
    }
  }
}

std::string text(const toml::table& table, const char* field) {
  if (const auto value = table[field].value<std::string>()) return *value;
  throw std::runtime_error(fmt::format("'{}' is missing, or no text", field));
}

/// A value, or a list of them.
template <class T>
std::vector<T> values(const toml::table& table, const char* field) {
  std::vector<T> found;
  const auto add = [&](const toml::node& node) {
    const auto value = node.value<T>();
    if (!value) throw std::runtime_error(fmt::format("'{}' has another type", field));
    found.push_back(*value);
  };
  if (const toml::array* list = table[field].as_array()) {
    for (const toml::node& node : *list) add(node);
  } else if (const toml::node* node = table[field].node()) {
    add(*node);
  }
  return found;
}

void apply(const toml::table& edit, std::string& source) {
  const std::string find = text(edit, "find");
  const std::size_t at = source.find(find);
  if (find.empty() || at == std::string::npos) {
    throw std::runtime_error(fmt::format("the solution has no '{}'", find));
  }
  if (source.find(find, at + 1) != std::string::npos) {
    throw std::runtime_error(fmt::format("the solution has '{}' more than once", find));
  }
  source.replace(at, find.size(), text(edit, "replace"));
}

std::string source_of(const toml::table& table, const std::string& solution) {
  if (table.contains("program")) return text(table, "program");
  std::string source = solution;
  if (const toml::array* edits = table["edits"].as_array()) {
    for (const toml::node& edit : *edits) {
      if (!edit.is_table()) throw std::runtime_error("'edits' should be a list of tables");
      apply(*edit.as_table(), source);
    }
  } else {
    apply(table, source);
  }
  if (source == solution) throw std::runtime_error("this is the solution");
  return source;
}

void read(const toml::table& table, const std::string& solution, Mutant& mutant) {
  mutant.name = text(table, "name");
  check_fields(table);
  mutant.source = source_of(table, solution);
  mutant.kinds = values<std::string>(table, "kind");
  mutant.ranks = values<int>(table, "rank");
  mutant.message = table["message"].value_or(std::string());
  if (mutant.kinds.empty()) throw std::runtime_error("'kind' is missing");
}

template <class T>
bool allows(const std::vector<T>& allowed, const T& value) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

/// "mutants/broadcast_ring_3.cc", from the project's root: short, for it is part of the replay line.
std::string written(const Mutant& mutant, std::size_t number) {
  const std::filesystem::path folder = std::filesystem::path(project()) / "mutants";
  std::filesystem::create_directories(folder);
  const std::string name = fmt::format("{}_{}.cc", mutant.exercise, number);
  std::ofstream(folder / name) << mutant.source;
  return "mutants/" + name;
}

/// What the verdict has other than the mutant deserves, in one line for each; empty: nothing.
std::string complaints(const Mutant& mutant, const Verdict& verdict) {
  if (!verdict.failure) return "it passes\n";
  const Failure& failure = *verdict.failure;
  const std::string kind = name_of(failure.kind);
  const std::string told = to_text(verdict);
  const auto lines = static_cast<std::size_t>(std::count(told.begin(), told.end(), '\n'));

  std::string complaints;
  const auto complain = [&](bool wrong, const std::string& complaint) {
    if (wrong) complaints += complaint + "\n";
  };
  complain(verdict.status != Status::kFail,
           fmt::format("status is {}, should be fail", name_of(verdict.status)));
  complain(!allows(mutant.kinds, kind),
           fmt::format("kind is {}, should be {}", kind, fmt::join(mutant.kinds, " or ")));
  complain(!mutant.ranks.empty() && !allows(mutant.ranks, failure.rank),
           fmt::format("rank is {}, should be {}", failure.rank, fmt::join(mutant.ranks, " or ")));
  complain(failure.message.find(mutant.message) == std::string::npos,
           fmt::format("the message does not say '{}'", mutant.message));
  complain(lines > kMostLines, fmt::format("it is told in {} lines", lines));
  complain(failure.replay.size() > kLongestReplay,
           fmt::format("its replay line has {} characters", failure.replay.size()));
  complain(failure.replay.empty() && failure.kind != FailureKind::kCompile,
           "it has no replay line");
  return complaints.empty() ? "" : complaints + told;
}

}  // namespace

std::string Mutant::title() const { return path_of(exercise) + ": " + name; }

Mutants mutants_of(const std::string& exercise) {
  const Exercise* known = find_exercise(exercise);
  if (known == nullptr) throw std::runtime_error("there is no exercise " + exercise);
  const std::string solution = read_file(solution_path(*known));
  const toml::table file = toml::parse(read_file(path_of(exercise)), path_of(exercise));

  Mutants mutants;
  std::set<std::string> names;
  const toml::array* entries = file["mutant"].as_array();
  for (std::size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
    Mutant mutant;
    mutant.exercise = exercise;
    try {
      const toml::table* table = (*entries)[i].as_table();
      if (table == nullptr) throw std::runtime_error("should be a table");
      read(*table, solution, mutant);
      if (!names.insert(mutant.name).second) throw std::runtime_error("this name is taken");
      mutants.all.push_back(std::move(mutant));
    } catch (const std::exception& error) {
      mutants.errors.push_back(fmt::format("{} (entry {}): {}", mutant.title(), i, error.what()));
    }
  }
  return mutants;
}

void check_mutants_of_chapter(int chapter) {
  std::vector<Mutant> mutants;
  std::vector<std::vector<std::string>> checks;
  for (const Exercise& exercise : exercises()) {
    if (exercise.chapter != chapter) continue;
    for (Mutant& mutant : mutants_of(exercise.name).all) {
      // Time is up soon only where it is sure to be.
      const bool endless = mutant.kinds.front() == name_of(FailureKind::kTimeout);
      checks.push_back({mutant.exercise, "--file", written(mutant, checks.size()), "--timeout",
                        endless ? "2" : "60"});
      mutants.push_back(std::move(mutant));
    }
  }

  const std::vector<Verdict> verdicts = checked_all(checks);
  for (std::size_t i = 0; i < mutants.size(); ++i) {
    const std::string wrong = complaints(mutants[i], verdicts[i]);
    CHECK_MESSAGE(wrong.empty(), mutants[i].title(), "\n", wrong);
  }
}

}  // namespace rankbox
