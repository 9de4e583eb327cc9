#include "cli/compare/measure/backend.h"

#include "cli/support/options.h"

namespace rankbox::cli {

std::vector<std::string> describe_backend(int world_size) {
  if (backend_name() == std::string("sim")) return {};
  return {backend_line(), world_line(world_size)};
}

RunOptions run_options(const Plan& plan, int world_size) {
  RunOptions options;
  options.world_size = world_size;
  options.nodes = nodes_to_simulate(plan.cluster, world_size);
  options.cluster = plan.cluster;
  options.buffering = plan.buffering;
  options.executor = executor_named(plan.executor, world_size);
  options.deadline_seconds = plan.deadline_seconds;
  options.blocking_calls = true;
  options.trace = false;
  return options;
}

}  // namespace rankbox::cli
