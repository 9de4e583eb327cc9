#include "cli/support/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace rankbox::cli {
namespace {

/// Returns the fewest insertions, deletions and replacements that turn a into b (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_of(const std::string& text, const std::vector<std::string>& names,
                                    std::size_t most) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const std::string& name : names) {
    // "ring" is far from "broadcast_ring" in letters, and still a likely name to type.
    const bool part = !text.empty() && name.find(text) != std::string::npos;
    const std::size_t far = distance(text, name);
    if (part || far <= std::max(most, name.size() / 3)) ranked.emplace_back(part ? 0 : far, name);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> nearest;
  for (const auto& [far, name] : ranked) {
    if (nearest.size() < 3) nearest.push_back(name);
  }
  return nearest;
}

}  // namespace rankbox::cli
