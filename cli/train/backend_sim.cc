// The sandbox: ranks are threads, nodes and time are imagined.
#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/train/backend.h"
#include "cli/train/session.h"
#include "clusters/clusters.h"
#include "comm/run_ranks.h"
#include "parallel/distributed_sampler.h"
#include "sim/clock.h"
#include "training/data/data_loader.h"
#include "viewer/timeline.h"

namespace rankbox::train {
namespace {

int parse_nodes(const std::string& text, int ranks) {
  int nodes = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, nodes);
  if (error != std::errc() || stop != end || nodes < 1 || nodes > ranks) {
    throw InvalidArgument(
        fmt::format("--nodes {}: {} ranks can be spread over 1 to {} nodes", text, ranks, ranks));
  }
  return nodes;
}

void refuse(const char* option, const std::string& value) {
  if (value.empty()) return;
  throw InvalidArgument(
      fmt::format("{} {}: ranks are threads of one process here, and nothing is to be connected; "
                  "for several machines: mpirun --host one:4,two:4 .rankbox/bin/rankbox-train-mpi",
                  option, value));
}

/// What was recorded behind the last barrier, on each rank.
Trace behind_barrier(Trace trace) {
  const auto is_barrier = [](const Event& event) {
    return event.kind == EventKind::kCollective && event.collective == CollectiveKind::kBarrier &&
           std::string_view(event.place.file_name()).find("backend_sim.cc") !=
               std::string_view::npos;
  };
  for (std::vector<Event>& events : trace.ranks) {
    const auto last = std::find_if(events.rbegin(), events.rend(), is_barrier);
    events.erase(events.begin(), last.base());
  }
  return trace;
}

}  // namespace

const char* backend_name() { return "sim"; }

const char* what_ranks_are() { return "threads of this process"; }

void place(const Placement& typed, Plan& plan) {
  refuse("--node-rank", typed.node_rank);
  refuse("--master-addr", typed.master_addr);
  refuse("--master-port", typed.master_port);
  plan.cluster = typed.cluster.empty() ? cluster_presets().front() : cluster_named(typed.cluster);
  plan.nodes = typed.nodes.empty() ? plan.cluster.nodes_for(plan.ranks)
                                   : parse_nodes(typed.nodes, plan.ranks);
}

bool has_timeline() { return true; }

std::string draw_step(const Plan& plan, const Task& task, const TimelineOptions& options) {
  RunOptions run;
  run.world_size = plan.ranks;
  run.nodes = plan.nodes;
  run.cluster = plan.cluster;
  const auto [ignored, report] = run_ranks(run, [&](Comm& dist) {
    const auto trainer = strategy_named(plan.strategy).make(dist, task.model, plan);
    const Dealt dealt = trainer->dealt();
    const DataLoader loader(task.data.train,
                            {.batch = plan.batch / dealt.parts,
                             .drop_last = true,
                             .rank = dealt.part,
                             .world_size = dealt.parts},
                            distributed_sampler);
    trainer->start();
    // The first finds memory that nobody has touched, and takes longer.
    trainer->step(loader.batch(0), 0);
    dist.barrier();
    trainer->step(loader.batch(loader.size() > 1 ? 1 : 0), 1);
  });
  const Trace step = behind_barrier(report.trace);
  return draw_timeline(
      step, sim::replay(step, plan.cluster),
      {.columns = options.columns, .ascii = options.ascii, .colour = options.colour});
}

}  // namespace rankbox::train
