// How many points a verdict is worth.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exercises/registry.h"
#include "judge/verdict.h"

namespace rankbox::cli {

struct Scheme {
  std::map<std::string, double> points;  // [exercise]; others: importance, 1 to 5
  // [check], of an exercise that fails; empty: all or nothing
  std::map<std::string, double> weights = {
      {"values", 40}, {"messages", 20}, {"cost", 20}, {"safety", 20}, {"memory", 20}};
  std::optional<std::int64_t> due;  // seconds since 1970
  double penalty_percent = 0;       // of the points, for each day that has begun since
};

/// Reads a TOML file: [points] with an exercise a line, [weights] with a check a line, and
/// `partial = false` for all or nothing. A table that is there replaces the whole default. Throws
/// InvalidArgument with one line that names the file and the entry.
Scheme read_scheme(const std::string& path);

/// Returns the most points that the exercise is worth. An exercise that a table of points leaves
/// out is worth 0.
double points_of(const Scheme& scheme, const Exercise& exercise);

/// Returns the share of them for a verdict, 0 to 1: all for one that passes; for one that fails,
/// the weights of the checks that pass over the weights of those that it has. Nothing for a stub,
/// and for what does not compile.
double share_of(const Scheme& scheme, const Verdict& verdict);

/// Returns the days that have begun since the due time; 0 if the file was in time.
int days_late(const Scheme& scheme, std::int64_t time);

/// Returns what is left of the points, 0 to 1, after so many days.
double share_after(const Scheme& scheme, int days_late);

}  // namespace rankbox::cli
