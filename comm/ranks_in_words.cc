#include "comm/ranks_in_words.h"

#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace rankbox {

std::string ranks_in_words(std::span<const int> ranks) {
  constexpr std::size_t kMostParts = 8;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t end = i + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    if (parts.size() == kMostParts) {
      parts.emplace_back("…");
      break;
    }
    parts.push_back(end - i == 1 ? fmt::format("{}", ranks[i])
                                 : fmt::format("{} to {}", ranks[i], ranks[end - 1]));
    i = end;
  }
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool is_last = i + 1 == parts.size() && parts[i] != "…";
    text += (i == 0 ? "" : is_last ? " and " : ", ") + parts[i];
  }
  return text;
}

}  // namespace rankbox
