#include "launch/failure.h"

#include <algorithm>

#include <fmt/format.h>

#include "launch/wire.h"

namespace rankbox::launcher {

std::string encode(const Failure& failure) {
  return WireWriter().u32(static_cast<std::uint32_t>(failure.rank)).raw(failure.reason).take();
}

Failure decode_failure(std::string_view bytes) {
  WireReader reader(bytes);
  const int rank = static_cast<int>(reader.u32());
  return {rank, reader.rest()};
}

std::string ranks_in_words(const std::vector<int>& ranks) {
  constexpr std::size_t kMostNamed = 8;
  if (ranks.empty()) return "no rank";
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  const bool all = ranks.size() <= kMostNamed + 1;
  const std::size_t before_and = all ? ranks.size() - 1 : kMostNamed;
  std::string words = "ranks ";
  for (std::size_t i = 0; i < before_and; ++i) {
    words += fmt::format("{}{}", i == 0 ? "" : ", ", ranks[i]);
  }
  if (all) return words + fmt::format(" and {}", ranks.back());
  return words + fmt::format(" and {} more", ranks.size() - before_and);
}

}  // namespace rankbox::launcher
