#include "comm/communicator_name.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/ranks_in_words.h"

namespace rankbox {

std::string communicator_name(std::span<const int> members, const char* file, int line,
                              int number) {
  const std::string of = fmt::format("of world {}", ranks_in_words(members));
  if (line == 0) return "the communicator " + of;
  const bool is_teen = number / 10 % 10 == 1;
  const int last = is_teen ? 0 : number % 10;
  const char* const ending = last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
  const std::string time = number > 1 ? fmt::format(" the {}{} time", number, ending) : "";
  return fmt::format("the communicator split at {}:{}{}, {}", file, line, time, of);
}

std::string ranks_in_communicator(std::span<const int> members, const std::string& name,
                                  int world_rank, int peer) {
  const auto index = [&](int rank) { return std::ranges::find(members, rank) - members.begin(); };
  return fmt::format(" (ranks {} and {} of {})", index(world_rank), index(peer), name);
}

}  // namespace rankbox
