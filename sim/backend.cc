// The sandbox as the backend of this build.
#include "comm/run_ranks.h"
#include "sim/run_world.h"

namespace rankbox {

Launch launch() { return {}; }

std::string why_no_ranks() { return ""; }

void check_options(const RunOptions& options) { sim::check_options(options); }

void run_world(const RunOptions& options, const std::function<void(Comm&)>& body,
               RunReport* report) {
  sim::run_world(options, body, report);
}

std::vector<std::string> gather_from_processes(int /*world_size*/, std::string mine) {
  return {std::move(mine)};
}

}  // namespace rankbox
