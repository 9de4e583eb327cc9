#include "cli/support/machine_memory.h"

#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/support/lists.h"
#include "comm/errors.h"

namespace rankbox::cli {

std::int64_t machine_memory_bytes() {
  return std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGE_SIZE);
}

void check_fits_memory(std::int64_t ranks, double bytes_of_rank, std::string_view tensors,
                       std::string_view fix) {
  const double needed = static_cast<double>(ranks) * bytes_of_rank;
  const std::int64_t machine = machine_memory_bytes();
  if (needed <= static_cast<double>(machine)) return;
  throw InvalidArgument(
      fmt::format("{} ranks with {} each need about {} of memory; this machine has {}: {}", ranks,
                  tensors, format_bytes(static_cast<std::int64_t>(std::min(needed, 0x1p62))),
                  format_bytes(machine), fix));
}

}  // namespace rankbox::cli
