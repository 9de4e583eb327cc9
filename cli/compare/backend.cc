#include "cli/compare/backend.h"

namespace rankbox::cli {

RunOptions run_options(const Plan& plan, int world_size) {
  RunOptions options;
  options.world_size = world_size;
  options.nodes = nodes_to_imagine(plan.cluster, world_size);
  options.cluster = plan.cluster;
  options.buffering = plan.buffering;
  options.executor = plan.executor;
  options.deadline_seconds = plan.deadline_seconds;
  // They would be measured too.
  options.check_collectives = false;
  options.trace = false;
  return options;
}

}  // namespace rankbox::cli
