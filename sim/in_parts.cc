#include "sim/in_parts.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>

namespace rankbox::sim {

void in_parts(std::size_t count, const std::function<void(std::size_t, std::size_t)>& part) {
  constexpr std::size_t kSmallestPart = 16'384;
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  const std::size_t parts = std::clamp<std::size_t>(count / kSmallestPart, 1, cores);
  std::vector<std::jthread> others;
  others.reserve(parts - 1);
  std::size_t begin = 0;
  try {
    for (std::size_t i = 1; i < parts; ++i) {
      const std::size_t end = count * i / parts;
      others.emplace_back(part, begin, end);
      begin = end;
    }
  } catch (const std::system_error&) {
    // No thread could be started for what is left: this one does it.
  }
  part(begin, count);
}  // joins

}  // namespace rankbox::sim
