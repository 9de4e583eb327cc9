#include <fmt/format.h>

#include "cli/compare/plan/algorithms.h"
#include "cli/compare/plan/plan.h"
#include "cli/support/lists.h"

namespace rankbox::cli {
namespace {

double bus_bandwidth_in(const Row& row, double seconds) {
  if (!(seconds > 0)) return 0;
  return static_cast<double>(row.bytes) * bus_factor(row.collective, row.world_size) / seconds;
}

}  // namespace

double Row::bus_bandwidth() const { return time ? bus_bandwidth_in(*this, time->median) : 0; }

double Row::virtual_bus_bandwidth() const {
  return bus_bandwidth_in(*this, virtual_seconds.value_or(0));
}

std::string label_of(const Row& row) {
  return row.whose == Whose::kYours ? row.algorithm + " (yours)" : row.algorithm;
}

std::string describe(const Row& row) {
  return fmt::format("{} {} on {} rank{}, {}", name_of(row.collective), label_of(row),
                     row.world_size, row.world_size == 1 ? "" : "s", format_bytes(row.bytes));
}

}  // namespace rankbox::cli
