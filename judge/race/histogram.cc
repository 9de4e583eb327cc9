#include "judge/race/histogram.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "judge/race/grouped.h"

namespace rankbox {
namespace {

std::int64_t floor_divide(std::int64_t number, std::int64_t divisor) {
  return number / divisor - (number % divisor < 0 ? 1 : 0);
}

/// Returns the least of 1, 2, 5, 10, 20, 50, … with which `rows` bins reach from low to high.
std::int64_t bin_width(std::int64_t low, std::int64_t high, int rows) {
  std::int64_t power = 1;
  for (;; power *= 10) {
    for (const std::int64_t factor : {1, 2, 5}) {
      const std::int64_t width = factor * power;
      if (floor_divide(high, width) - floor_divide(low, width) < rows) return width;
    }
  }
}

/// Returns a bar as long as `length` eighths of a column.
std::string bar(std::int64_t eighths) {
  constexpr std::array kPartialBlocks = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string drawn;
  for (std::int64_t i = 0; i < eighths / 8; ++i) drawn += "█";
  return drawn + kPartialBlocks[static_cast<std::size_t>(eighths % 8)];
}

}  // namespace

std::vector<std::string> histogram(std::span<const std::int64_t> values,
                                   const HistogramOptions& options) {
  if (values.empty()) return {};

  // 1. The bins: enough to hold the values and the expected one.
  const std::int64_t low = std::min(std::ranges::min(values), options.expected);
  const std::int64_t high = std::max(std::ranges::max(values), options.expected);
  const std::int64_t width = bin_width(low, high, options.rows);
  const std::int64_t first_bin = floor_divide(low, width);
  std::vector<std::int64_t> counts(
      static_cast<std::size_t>(floor_divide(high, width) - first_bin + 1));
  const auto bin_of = [&](std::int64_t value) {
    return static_cast<std::size_t>(floor_divide(value, width) - first_bin);
  };
  for (const std::int64_t value : values) ++counts[bin_of(value)];

  // 2. Their labels: "from .. to", or the number itself if a bin holds only one.
  std::vector<std::string> froms;
  std::vector<std::string> tos;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const std::int64_t from = (first_bin + static_cast<std::int64_t>(bin)) * width;
    froms.push_back(grouped(from));
    tos.push_back(width == 1 ? "" : " .. " + grouped(from + width - 1));
  }
  const std::size_t from_columns = std::ranges::max(froms, {}, &std::string::size).size();
  const std::size_t to_columns = std::ranges::max(tos, {}, &std::string::size).size();

  // 3. The bars: the fullest bin takes the columns that labels and counts leave.
  const std::int64_t fullest = std::ranges::max(counts);
  const std::size_t taken = 2 + from_columns + to_columns + 2 + 1 + std::to_string(fullest).size();
  const std::int64_t bar_columns =
      std::max<std::int64_t>(options.width - static_cast<std::int64_t>(taken), 1);
  std::vector<std::string> lines;
  for (std::size_t bin = 0; bin < counts.size(); ++bin) {
    const bool is_expected = bin == bin_of(options.expected);
    const std::int64_t share = counts[bin] * bar_columns * 8 / fullest;
    std::string drawn = counts[bin] > 0 ? bar(std::max<std::int64_t>(share, 1)) : "";
    if (options.color && !drawn.empty()) {
      drawn = fmt::format("\x1b[{}m{}\x1b[0m", is_expected ? 32 : 31, drawn);
    }
    lines.push_back(fmt::format("{} {:>{}}{:<{}} │{} {}", is_expected ? '>' : ' ', froms[bin],
                                from_columns, tos[bin], to_columns, drawn, counts[bin]));
  }
  return lines;
}

}  // namespace rankbox
