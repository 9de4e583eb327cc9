#include "cli/train/loss_curve.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace rankbox::train {
namespace {

constexpr int kMargin = 8;  // "  2.31 |"

/// Returns means over equal parts of the losses; as many as columns, or as losses if those are
/// fewer.
std::vector<double> averaged(std::span<const double> losses, std::size_t columns) {
  columns = std::min(columns, losses.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t begin = i * losses.size() / columns;
    const std::size_t end = (i + 1) * losses.size() / columns;
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += losses[j];
    means.push_back(sum / static_cast<double>(end - begin));
  }
  return means;
}

/// Returns the label of row i: the loss at the top, in the middle, and at the bottom.
std::string label(int i, int rows, double top) {
  if (i == rows - 1) return "0";
  if (i != 0 && i != rows / 2) return "";
  return fmt::format("{:.3g}", top * (1 - static_cast<double>(i) / (rows - 1)));
}

}  // namespace

std::string draw_loss_curve(std::span<const double> losses, const CurveOptions& options) {
  if (losses.size() < 2) return "";
  const int width = std::max(options.columns, 30) - kMargin;
  const int rows = std::max(options.rows, 3);
  const std::vector<double> means = averaged(losses, static_cast<std::size_t>(width));
  const double top = *std::max_element(means.begin(), means.end());

  // From row 0, at the top, to rows - 1, which is a loss of 0.
  std::vector<std::string> lines(static_cast<std::size_t>(rows));
  for (const double mean : means) {
    const double height = top > 0 ? mean / top : 0;
    const auto row = static_cast<int>(std::lround((1 - height) * (rows - 1)));
    for (int i = 0; i < rows; ++i)
      lines[static_cast<std::size_t>(i)] += i != row ? " " : options.ascii ? "*" : "•";
  }

  std::string picture;
  for (int i = 0; i < rows; ++i) {
    std::string line = fmt::format("{:>6} {}{}", label(i, rows, top), options.ascii ? "|" : "│",
                                   lines[static_cast<std::size_t>(i)]);
    line.erase(line.find_last_not_of(' ') + 1);
    picture += line + "\n";
  }
  const auto drawn = static_cast<int>(means.size());
  std::string axis;
  for (int i = 0; i < std::max(drawn, 1); ++i) axis += options.ascii ? "-" : "─";
  picture += fmt::format("{:>6} {}{}\n", "", options.ascii ? "+" : "└", axis);
  const std::string first = fmt::format("step {}", options.first_step);
  const std::string last =
      fmt::format("step {}", options.first_step + static_cast<std::int64_t>(losses.size()) - 1);
  const int gap = std::max(drawn - static_cast<int>(first.size() + last.size()), 2);
  picture += fmt::format("{:{}}{}{:{}}{}\n", "", kMargin, first, "", gap, last);
  return picture;
}

}  // namespace rankbox::train
