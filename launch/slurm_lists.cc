#include "launch/slurm_lists.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/errors.h"
#include "launch/whole_number.h"

namespace rankbox::launcher {

namespace {

constexpr int kMostTasks = 1 << 20;

[[noreturn]] void refuse(std::string_view list, const std::string& variable,
                         const char* should_be) {
  throw InvalidArgument(fmt::format("{}='{}' should be a list like {}: srun sets it; or set {}",
                                    variable, list, should_be, "MASTER_ADDR and RANK yourself"));
}

}  // namespace

std::string first_host(std::string_view hosts, const std::string& variable) {
  constexpr const char* kExample = "node[03-05,9]";
  std::string host;
  for (std::size_t i = 0; i < hosts.size() && hosts[i] != ','; ++i) {
    if (hosts[i] != '[') {
      host += hosts[i];
      continue;
    }
    // The first number of the brackets, zeros and all; the rest of them is other hosts.
    const std::size_t close = hosts.find(']', i);
    const std::size_t end = hosts.find_first_of(",-]", i);
    if (close == std::string_view::npos || end == i + 1) refuse(hosts, variable, kExample);
    host += hosts.substr(i + 1, end - i - 1);
    i = close;
  }
  const bool odd = host.find_first_of("[] \t/:") != std::string::npos;
  if (host.empty() || odd) refuse(hosts, variable, kExample);
  return host;
}

std::vector<int> tasks_per_node(std::string_view counts, const std::string& variable) {
  constexpr const char* kExample = "2(x3),1";
  std::vector<int> tasks;
  for (std::size_t i = 0; i <= counts.size();) {
    const std::size_t comma = std::min(counts.find(',', i), counts.size());
    std::string_view item = counts.substr(i, comma - i);
    int times = 1;
    if (const std::size_t open = item.find("(x"); open != std::string_view::npos) {
      if (item.back() != ')') refuse(counts, variable, kExample);
      const auto repeated =
          whole_number(item.substr(open + 2, item.size() - open - 3), 1, kMostTasks);
      if (!repeated) refuse(counts, variable, kExample);
      times = *repeated;
      item = item.substr(0, open);
    }
    const auto count = whole_number(item, 1, kMostTasks);
    if (!count) refuse(counts, variable, kExample);
    tasks.insert(tasks.end(), static_cast<std::size_t>(times), *count);
    i = comma + 1;
  }
  return tasks;
}

}  // namespace rankbox::launcher
