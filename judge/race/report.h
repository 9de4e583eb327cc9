// The race demo's output, as lines of text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "judge/race/variants.h"

namespace rankbox {

struct ReportStyle {
  bool color = false;
  int width = 80;
};

/// The runs of one variant.
struct Measured {
  std::string name;
  int threads = 0;
  std::int64_t repeats = 0;  // of each thread
  std::int64_t amount = 1;   // of each update
  std::vector<RaceOutcome> outcomes;

  /// Returns the number of runs that did not end at 0.
  std::int64_t wrong() const;

  /// Returns nanoseconds per update of each run, ascending. Empty if there were no updates.
  std::vector<double> nanoseconds() const;
};

std::vector<std::string> heading(std::string_view text, const ReportStyle& style);

/// Returns the program, and the question about its result.
std::vector<std::string> question(const RaceProgram& program, const ReportStyle& style);

/// Returns the final values of the unfixed race.
std::vector<std::string> distribution(const Measured& race, unsigned cores,
                                      const ReportStyle& style);

/// Returns one line per variant: final values and cost. The unfixed race is the first.
std::vector<std::string> cost_table(const std::vector<Measured>& variants,
                                    const ReportStyle& style);

/// Returns an interleaving that loses an update, and how many interleavings do.
std::vector<std::string> interleaving_lines(std::int64_t amount, const ReportStyle& style);

std::vector<std::string> conclusion(const ReportStyle& style);

}  // namespace rankbox
