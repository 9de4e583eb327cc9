#include "cli/dev/mutants.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "cli/support/paths.h"
#include "comm/errors.h"
#include "judge/verdict_text.h"

namespace rankbox::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 12;
constexpr std::size_t kLongestReplay = 256;

void check_fields(const toml::table& table) {
  static constexpr std::array<std::string_view, 10> kFields = {
      "name", "find", "replace", "edits", "program", "kind", "rank", "op", "message", "hint"};
  for (const auto& [key, value] : table) {
    if (std::find(kFields.begin(), kFields.end(), key.str()) == kFields.end()) {
      throw Error(fmt::format("there is no field '{}'", key.str()));
    }
  }
}

std::string text(const toml::table& table, const char* field) {
  if (const auto value = table[field].value<std::string>()) return *value;
  throw Error(fmt::format("'{}' is missing, or not a string", field));
}

/// Returns a value, or a list of values, as a list.
template <class T>
std::vector<T> values(const toml::table& table, const char* field) {
  std::vector<T> found;
  const auto add = [&](const toml::node& node) {
    const auto value = node.value<T>();
    if (!value) throw Error(fmt::format("'{}' has the wrong type", field));
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
    throw Error(fmt::format("the solution has no '{}'", find));
  }
  if (source.find(find, at + 1) != std::string::npos) {
    throw Error(fmt::format("the solution has '{}' more than once", find));
  }
  source.replace(at, find.size(), text(edit, "replace"));
}

std::string source_of(const toml::table& table, const std::string& solution) {
  if (table.contains("program")) return text(table, "program");
  std::string source = solution;
  if (const toml::array* edits = table["edits"].as_array()) {
    for (const toml::node& edit : *edits) {
      if (!edit.is_table()) throw Error("'edits' should be a list of tables");
      apply(*edit.as_table(), source);
    }
  } else {
    apply(table, source);
  }
  if (source == solution) throw Error("this is the solution");
  return source;
}

void read_mutant(const toml::table& table, const std::string& solution, Mutant& mutant) {
  mutant.name = text(table, "name");
  check_fields(table);
  mutant.source = source_of(table, solution);
  mutant.kinds = values<std::string>(table, "kind");
  mutant.ranks = values<int>(table, "rank");
  mutant.op = table["op"].value_or(std::string());
  mutant.message = table["message"].value_or(std::string());
  mutant.hint = table["hint"].value_or(std::string());
  if (mutant.kinds.empty()) throw Error("'kind' is missing");
}

template <class T>
bool allows(const std::vector<T>& allowed, const T& value) {
  return std::find(allowed.begin(), allowed.end(), value) != allowed.end();
}

std::string message_without_hint(const Failure& failure) {
  std::string message = failure.message;
  const std::size_t hint = message.find(failure.hint.text);
  if (hint != std::string::npos) message.erase(hint, failure.hint.text.size());
  return message;
}

}  // namespace

double Mutant::seconds() const { return kinds.front() == name_of(FailureKind::kTimeout) ? 2 : 60; }

Mutants mutants_of(const Exercise& exercise) {
  const std::string path = mutants_path(exercise);
  const std::string solution = text_of(solution_path(exercise));
  toml::table file;
  try {
    file = toml::parse(text_of(path));
  } catch (const toml::parse_error& error) {
    throw Error(fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  }

  Mutants mutants;
  std::set<std::string> names;
  const toml::array* entries = file["mutant"].as_array();
  for (std::size_t i = 0; entries != nullptr && i < entries->size(); ++i) {
    Mutant mutant;
    mutant.exercise = exercise.name;
    try {
      const toml::table* table = (*entries)[i].as_table();
      if (table == nullptr) throw Error("should be a table");
      read_mutant(*table, solution, mutant);
      if (!names.insert(mutant.name).second) throw Error("this name is taken");
      mutants.all.push_back(std::move(mutant));
    } catch (const Error& error) {
      mutants.errors.push_back(
          fmt::format("{}: {} (entry {}): {}", path, mutant.name, i, error.what()));
    }
  }
  return mutants;
}

std::string complaints(const Mutant& mutant, const Verdict& verdict) {
  if (!verdict.failure) return "it passes\n";
  const Failure& failure = *verdict.failure;
  const std::string kind = name_of(failure.kind);
  const std::string report = to_text(verdict);
  const auto lines = static_cast<std::size_t>(std::count(report.begin(), report.end(), '\n'));

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
  complain(!mutant.op.empty() && failure.op != mutant.op,
           fmt::format("the call is '{}', should be '{}'", failure.op, mutant.op));
  complain(
      message_without_hint(failure).find(mutant.message) == std::string::npos,
      fmt::format("the message does not say '{}' (a hint is matched by its id)", mutant.message));
  complain(!mutant.hint.empty() && failure.hint.id != mutant.hint,
           fmt::format("hint is '{}', should be '{}'", failure.hint.id, mutant.hint));
  complain(lines > kMostLines, fmt::format("the report has {} lines", lines));
  complain(failure.replay.size() > kLongestReplay,
           fmt::format("its replay line has {} characters", failure.replay.size()));
  complain(failure.replay.empty() && failure.kind != FailureKind::kCompile,
           "it has no replay line");
  return complaints.empty() ? "" : complaints + report;
}

std::vector<std::string> variants_of(const Exercise& exercise) {
  const std::string folder = variants_path(exercise);
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(absolute_path(folder), none)) {
    if (entry.path().extension() != ".cc") continue;
    files.push_back(folder + "/" + entry.path().filename().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace rankbox::cli
