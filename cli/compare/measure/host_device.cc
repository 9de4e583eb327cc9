#include "cli/compare/measure/host_device.h"

#include <array>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/support/machine_memory.h"

namespace rankbox::cli {

Device host_device() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') name = {'?'};
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return {.host = name.data(),
          .process = static_cast<std::int32_t>(getpid()),
          .number = 0,
          .bus = "cpu",
          .name = fmt::format("{} core{}", cores, cores == 1 ? "" : "s"),
          .memory_bytes = machine_memory_bytes()};
}

}  // namespace rankbox::cli
