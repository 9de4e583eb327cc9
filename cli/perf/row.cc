#include "cli/compare/algorithms.h"
#include "cli/perf/plan.h"

namespace rankbox::perf {

double Row::bus_bandwidth() const {
  return algorithm_bandwidth() * cli::bus_factor(collective, world_size);
}

}  // namespace rankbox::perf
