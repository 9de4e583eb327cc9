// A histogram for the terminal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rankbox {

struct HistogramOptions {
  int width = 80;             // columns; no line is longer, if there are at least 40
  int rows = 16;              // at most this many bins
  std::int64_t expected = 0;  // its bin is marked with '>', and is always shown
  bool color = false;         // the bar of the marked bin green, the others red
};

/// Returns one line per bin, from low to high values:
///
///     -20,000 .. -10,001 │██████████████▌ 31
///     -10,000 .. -1      │ 0
///   >       0 .. 9,999   │█ 2
///
/// Bins are equally wide (1, 2 or 5 times a power of ten) and start at multiples of their width.
/// Empty bins are shown, so that the scale is true. A bin that is not empty has a visible bar.
///
/// REQUIRES: values and options.expected between -10^18 and 10^18, rows >= 2. No values: no lines.
std::vector<std::string> histogram(std::span<const std::int64_t> values,
                                   const HistogramOptions& options = {});

}  // namespace rankbox
