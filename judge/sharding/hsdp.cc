// Judges hsdp: zero3's values, in shards of a node's ranks, and what travels on each level.
//
// The nodes are those of the run, so the trace shows which bytes stay inside one. They are counted
// for each level and each rank: a program that gathers over all ranks has the right values.
#include "parallel/hsdp.h"

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "judge/case_lists.h"
#include "judge/checks.h"
#include "judge/sharding/sharded_step.h"
#include "judge/sharding/sharded_training.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "sim/clock/native_cost.h"

namespace rankbox {

namespace {

using Function = decltype(&hsdp);

constexpr int kSplits = 2;
// What the sandbox keeps of a communicator counts for the rank that completes the split. Too many
// splits are a matter of cost.
constexpr std::int64_t kBytesOfCommunicator = std::int64_t{4} << 10;

std::vector<std::int64_t> sizes_in(const Case& example) {
  return sharded_layer_sizes(*example.count);
}

/// Every number of nodes that divides the ranks.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Case& each : cases_of_sharding()) {
    for (int nodes = 1; nodes <= each.world_size; ++nodes) {
      if (each.world_size % nodes != 0) continue;
      all.push_back(each);
      all.back().nodes = nodes;
    }
  }
  return all;
}

/// The collectives of a case, by level.
struct MeshCalls {
  NativeCalls inside;
  NativeCalls between;
};

MeshCalls calls_in(const Case& example) {
  const int ranks = ranks_of_copy(example), steps = steps_in(example);
  const ShardedCalls one = sharded_calls(sizes_in(example), ranks);
  std::vector<std::int64_t> shards;
  for (const std::int64_t size : sizes_in(example)) shards.push_back(shard_size(size, ranks));
  return {repeated(steps, repeated(2, one.all_gathers) + one.reduce_scatters),
          repeated(steps, calls_of(CollectiveKind::kAllReduce, shards))};
}

NativeCalls all_calls_in(const Case& example) {
  const MeshCalls calls = calls_in(example);
  return calls.inside + calls.between;
}

Cost cost_in(const Case& example) {
  const MeshCalls calls = calls_in(example);
  Cost sum;
  for (const Cost& one :
       {cost_of(calls.inside, ranks_of_copy(example)), cost_of(calls.between, *example.nodes),
        cost_of(repeated(kSplits, {{CollectiveKind::kSplit, 0}}), example.world_size)})
    sum = {sum.steps + one.steps, sum.bytes + one.bytes, sum.reduced + one.reduced};
  return sum;
}

/// The bytes that a rank sends, at least: the factors of nccl-tests' bus bandwidth.
struct SentBytes {
  double inside = 0;   // to ranks of its node
  double between = 0;  // to others
};

SentBytes promised_bytes(const Case& example) {
  const double s = ranks_of_copy(example), m = *example.nodes;
  double shards = 0;
  for (const NativeCall& call : calls_in(example).between)
    shards += static_cast<double>(call.elements * kElementBytes);
  return {3 * (s - 1) * shards, 2 * (m - 1) / m * shards};
}

SentBytes sent_bytes(const Trace& trace, int rank) {
  const auto node_of = [&](int other) { return trace.nodes[static_cast<std::size_t>(other)]; };
  SentBytes sent;
  for (const Event& event : trace.ranks[static_cast<std::size_t>(rank)]) {
    const auto bytes = static_cast<double>(event.bytes);
    if (event.kind == EventKind::kSend) {
      (node_of(event.peer) == node_of(rank) ? sent.inside : sent.between) += bytes;
    } else if (event.kind == EventKind::kCollective) {
      const std::vector<int>& group = trace.groups[static_cast<std::size_t>(event.group)];
      std::set<int> nodes;
      for (const int member : group) nodes.insert(node_of(member));
      const cost::NativeCall call = {event.collective, static_cast<int>(group.size()),
                                     static_cast<int>(nodes.size()), bytes};
      const double between = cost::bytes_between_nodes(call);
      sent.between += between;
      sent.inside += cost::native_wire(call, NativeSteps::kRing).bytes - between;
    }
  }
  return sent;
}

bool is_more(double a, double b) { return a - b > 1e-9 * std::max(a, b); }

std::optional<Difference> compare_bytes(const RunReport& report, const Case& example) {
  const SentBytes promised = promised_bytes(example);
  for (int rank = 0; rank < example.world_size; ++rank) {
    const SentBytes sent = sent_bytes(report.trace, rank);
    const auto difference = [&](const char* what, double expected, double actual,
                                const Hint& hint) {
      return Difference{what, -1,  fmt::format("{:.6g}", expected), fmt::format("{:.6g}", actual),
                        hint, rank};
    };
    if (is_more(sent.between, promised.between)) {
      return difference("bytes to other nodes", promised.between, sent.between,
                        is_more(promised.inside, sent.inside)
                            ? Hint("stay-inside-node",
                                   "gathers and reduce-scatters need the ranks of the node alone")
                            : Hint("shard-alone-crosses",
                                   "the gradient of this rank's shard is all that has to cross, "
                                   "once: after the reduce-scatter"));
    }
    if (is_more(promised.between, sent.between)) {
      return difference("bytes to other nodes", promised.between, sent.between,
                        {"each-shard-crosses", "each rank all-reduces its own shards' gradients"});
    }
    if (is_more(sent.inside, promised.inside) || is_more(promised.inside, sent.inside)) {
      return difference("bytes inside the node", promised.inside, sent.inside,
                        {"three-times-inside", "two gathers and a reduce-scatter of each layer"});
    }
  }
  return std::nullopt;
}

std::optional<Difference> compare_splits(const RunReport& report, const Case& /*example*/) {
  for (std::size_t rank = 0; rank < report.trace.ranks.size(); ++rank) {
    int splits = 0;
    for (const Event& event : report.trace.ranks[rank]) {
      const bool is_split =
          event.kind == EventKind::kCollective && event.collective == CollectiveKind::kSplit;
      splits += is_split ? 1 : 0;
      if (splits <= kSplits) continue;
      return Difference{"splits",
                        -1,
                        fmt::format("{}, however many steps", kSplits),
                        fmt::format("{} or more", splits),
                        {"mesh-made-once", "make both communicators before the first step"},
                        static_cast<int>(rank),
                        FailureKind::kCost,
                        nullptr,
                        &event};
    }
  }
  return std::nullopt;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const int ranks = ranks_of_copy(example);
  const ShardBytes bytes = shard_bytes(sizes_in(example), ranks);
  // As zero3: a layer's weights and gradients, a flat copy, the shards' gradients, a spare shard.
  const std::int64_t mesh = steps_in(example) * (ranks + *example.nodes) * kBytesOfCommunicator;
  const MemoryLimit limit = {3 * bytes.largest + bytes.all_shards + bytes.largest_shard + mesh,
                             bytes.all_shards + mesh};
  ShardedTraining training(example, dist.rank(), by_layer);
  drop_values(training.model.parameters());
  training.set_at_pass([&](const Layer& layer, bool is_backward) {
    return compare_at_pass(training.model, layer, is_backward, Whole::kNone);
  });
  return training.run_at_once(limit, [&](const std::vector<Batch>& mine, const Watch& watch) {
    watch(
        [&] { function(dist, training.model, mine, training.shards, ranks, training.optimizer); });
    return compare_dropped(training.model, /*keeps_values=*/false);
  });
}

}  // namespace

Family family::hsdp() {
  Subject subject = subject_of_sharding(
      all_calls_in,
      {check_of(FailureKind::kCost, compare_splits), check_of(FailureKind::kCost, compare_bytes)});
  subject.cases = cases;
  subject.cost = cost_in;
  for (Case& each : subject.large_cases) each.nodes = 1;
  return make_family<Function>(
      "hsdp",
      "(Comm& dist, Sequential& model, const std::vector<Batch>& batches, std::vector<Shard>& "
      "shards, int ranks_per_node, Optimizer& optimizer)",
      subject, run);
}

}  // namespace rankbox
