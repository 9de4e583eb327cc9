#include "cli/grade/scheme.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "cli/support/paths.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

constexpr double kMostPoints = 1e6;
constexpr std::int64_t kDay = 24 * 60 * 60;

std::map<std::string, double> numbers_of(const toml::table& table, const std::string& where) {
  std::map<std::string, double> numbers;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto number = node.value<double>();
    if (!number || !(*number >= 0) || *number > kMostPoints) {
      throw InvalidArgument(
          fmt::format("{}: {} should be a number from 0 to {:.0f}", where, name, kMostPoints));
    }
    numbers[name] = *number;
  }
  return numbers;
}

const toml::table* table_of(const toml::table& file, const char* name, const std::string& path) {
  const toml::node* node = file.get(name);
  if (node != nullptr && !node->is_table())
    throw InvalidArgument(fmt::format("{}: {} should be a table, [{}]", path, name, name));
  return node == nullptr ? nullptr : node->as_table();
}

}  // namespace

Scheme read_scheme(const std::string& path) {
  require_readable(path);
  toml::table file;
  try {
    file = toml::parse_file(path);
  } catch (const toml::parse_error& error) {
    throw InvalidArgument(
        fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
  }
  for (const auto& [key, node] : file) {
    if (key != "points" && key != "weights" && key != "partial") {
      throw InvalidArgument(fmt::format("{}: '{}' should be one of points, weights, partial", path,
                                        std::string(key.str())));
    }
  }

  Scheme scheme;
  if (const toml::table* points = table_of(file, "points", path)) {
    scheme.points = numbers_of(*points, path + ": [points]");
    for (const auto& [name, number] : scheme.points) exercise_named(name);
  }
  if (const toml::table* weights = table_of(file, "weights", path)) {
    const Scheme usual;
    for (const auto& [name, number] : numbers_of(*weights, path + ": [weights]")) {
      if (!usual.weights.contains(name)) {
        throw InvalidArgument(
            fmt::format("{}: [weights]: {} should be one of values, messages, cost, safety, memory",
                        path, name));
      }
      scheme.weights[name] = number;
    }
  }
  const toml::node* partial = file.get("partial");
  if (partial != nullptr && !partial->is_boolean())
    throw InvalidArgument(fmt::format("{}: partial should be true or false", path));
  if (partial != nullptr && !partial->value_or(true)) scheme.weights.clear();
  return scheme;
}

double points_of(const Scheme& scheme, const Exercise& exercise) {
  if (scheme.points.empty()) return exercise.importance;
  const auto found = scheme.points.find(exercise.name);
  return found == scheme.points.end() ? 0 : found->second;
}

double share_of(const Scheme& scheme, const Verdict& verdict) {
  if (verdict.passed()) return 1;
  if (verdict.status != Status::kFail) return 0;
  double passed = 0;
  double all = 0;
  bool has_failed = false;  // what comes later was judged of another program than the one asked for
  for (const Check& check : verdict.checks) {
    const auto weight = scheme.weights.find(check.name);
    if (weight == scheme.weights.end()) continue;
    all += weight->second;
    has_failed = has_failed || check.status != CheckStatus::kPass;
    if (!has_failed) passed += weight->second;
  }
  return all > 0 ? passed / all : 0;
}

int days_late(const Scheme& scheme, std::int64_t time) {
  if (!scheme.due || time <= *scheme.due) return 0;
  return static_cast<int>(std::min<std::int64_t>((time - *scheme.due + kDay - 1) / kDay, 10'000));
}

double share_after(const Scheme& scheme, int days_late) {
  return std::max(0.0, 1 - days_late * scheme.penalty_percent / 100);
}

}  // namespace rankbox::cli
