// The sandbox backend: ranks are threads; nodes and time are simulated.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "cli/train/backend.h"
#include "comm/errors.h"
#include "comm/label.h"
#include "comm/option_checks.h"
#include "comm/run_ranks.h"
#include "comm/whole_number.h"
#include "parallel/distributed_sampler.h"
#include "sim/clock/clock.h"
#include "sim/clusters/clusters.h"
#include "training/data/data_loader.h"
#include "training/run/session.h"
#include "viewer/timeline.h"

namespace rankbox::train {
namespace {

int parse_nodes(const std::string& text, int ranks) {
  if (const auto nodes = parse_whole_number(text, 1, ranks)) return static_cast<int>(*nodes);
  throw InvalidArgument(
      fmt::format("--nodes {}: {} ranks can be spread over 1 to {} nodes", text, ranks, ranks));
}

/// Each rank records this label, at no cost, between its two steps.
constexpr Label kSecondStep = "step 2";

/// Returns the events after kSecondStep, on each rank. No message crosses it: every step receives
/// all of its messages.
Trace second_step(Trace trace) {
  for (std::vector<Event>& events : trace.ranks) {
    const auto begin = std::ranges::find_if(
        events, [](const Event& event) { return label_of(event).bits() == kSecondStep.bits(); });
    if (begin == events.end()) throw Error("a rank did not reach the step that is drawn");
    events.erase(events.begin(), begin + 1);
  }
  return trace;
}

}  // namespace

const char* backend_name() { return "sim"; }

std::string what_ranks_are(int /*ranks*/) { return "threads of this process"; }

void place(const Placement& typed, Plan& plan) {
  plan.cluster = typed.cluster.empty() ? cluster_presets().front() : cluster_named(typed.cluster);
  plan.nodes = typed.nodes.empty() ? plan.cluster.nodes_for(plan.ranks)
                                   : parse_nodes(typed.nodes, plan.ranks);
  check_cluster_fits(plan.cluster, plan.ranks, plan.nodes);
}

bool has_timeline() { return true; }

std::string draw_step(const Plan& plan, const Task& task, const TimelineOptions& options) {
  RunOptions run;
  run.world_size = plan.ranks;
  run.nodes = plan.nodes;
  run.cluster = plan.cluster;
  const auto [ignored, report] = run_ranks(run, [&](Comm& dist) {
    const auto trainer = strategy_named(plan.strategy).make(dist, task.model, plan);
    const DataShare share = trainer->data_share();
    const DataLoader loader(task.data.train,
                            {.batch = plan.batch / share.parts,
                             .drop_last = true,
                             .rank = share.part,
                             .world_size = share.parts},
                            distributed_sampler);
    trainer->start();
    // The first step touches fresh memory, and takes longer.
    trainer->step(batches_of(0, loader, plan), 0);
    dist.compute(0, kSecondStep);
    trainer->step(batches_of(loader.size() / plan.accumulate > 1 ? 1 : 0, loader, plan), 1);
  });
  const Trace step = second_step(report.trace);
  return draw_timeline(
      step, replay_trace(step, plan.cluster),
      {.columns = options.columns, .ascii = options.ascii, .colour = options.colour});
}

}  // namespace rankbox::train
