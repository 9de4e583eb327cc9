#include "comm/communicator_name.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankbox {

std::string communicator_name(std::span<const int> members, const char* file, int line) {
  if (line != 0) return fmt::format("the communicator split at {}:{}", file, line);
  constexpr std::size_t kMostNamed = 8;
  const std::span<const int> named = members.first(std::min(members.size(), kMostNamed));
  return fmt::format("the communicator of ranks {}{}", fmt::join(named, ", "),
                     named.size() < members.size() ? ", …" : "");
}

std::string ranks_in_communicator(std::span<const int> members, const std::string& name,
                                  int world_rank, int peer) {
  const auto index = [&](int rank) { return std::ranges::find(members, rank) - members.begin(); };
  return fmt::format(" (ranks {} and {} of {})", index(world_rank), index(peer), name);
}

}  // namespace rankbox
