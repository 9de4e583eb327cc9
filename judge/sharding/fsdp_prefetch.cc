// Judges fsdp_prefetch: zero3's values, two layers' memory, and maximal overlap.
//
// Passes of layers with weights take virtual time: some more than the communication beside them,
// some less. So the clock must stop where the recurrence below does. Wall-clock time is not
// involved. The trace shows when each gather starts, and so what is gathered too early.
#include "parallel/fsdp_prefetch.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "judge/checks.h"
#include "judge/sharding/sharded_step.h"
#include "judge/sharding/sharded_training.h"
#include "judge/training/native_calls.h"
#include "judge/training_families.h"
#include "sim/clock/native_cost.h"

namespace rankbox {

namespace {

using Function = decltype(&fsdp_prefetch);

std::vector<std::int64_t> sizes_in(const Case& example) {
  return sharded_layer_sizes(*example.count);
}

/// Every other layer computes for longer than its weights travel.
double pass_seconds(std::size_t layer, std::int64_t elements, bool is_backward) {
  const double once = 3e-7 + 1e-10 * static_cast<double>(elements * kElementBytes);
  return once * (layer % 2 == 0 ? 0.5 : 4) * (is_backward ? 2 : 1);
}

NativeCalls calls(const Case& example) {
  ShardedCalls one = sharded_calls(sizes_in(example), example.world_size);
  const NativeCalls forward = one.all_gathers;
  one.all_gathers.pop_back();  // the last layer is still whole
  return repeated(steps_in(example), forward + one.all_gathers + one.reduce_scatters);
}

/// What a program overlaps with passes.
struct Overlap {
  bool gathers = true;
  bool reduce_scatters = true;
};

/// The virtual time of a step. The network takes one collective after the other.
struct Schedule {
  double compute = 0;
  double finish = 0;

  double exposed() const { return finish - compute; }
};

Schedule schedule_of(const Case& example, Overlap overlap) {
  const std::vector<std::int64_t> sizes = sizes_in(example);
  const std::size_t layers = sizes.size(), passes = 2 * layers;
  const auto layer_of = [=](std::size_t pass) { return pass < layers ? pass : passes - 1 - pass; };
  const auto needs_gather = [=](std::size_t pass) { return pass < passes && pass != layers; };
  double now = 0, network = 0, scattered = 0, compute = 0;
  const auto start = [&](CollectiveKind kind, std::size_t layer) {
    const std::int64_t shard = shard_size(sizes[layer], example.world_size);
    const std::int64_t each =
        kind == CollectiveKind::kAllGather ? shard : shard * example.world_size;
    const auto bytes = static_cast<double>(each * kElementBytes);
    network = std::max(network, now) +
              cost::native_seconds({kind, example.world_size, 1, bytes}, Cluster());
    return network;
  };

  double gathered = start(CollectiveKind::kAllGather, 0);
  for (std::size_t pass = 0; pass < passes; ++pass) {
    const std::size_t layer = layer_of(pass);
    if (needs_gather(pass)) {
      if (!overlap.gathers && pass > 0) gathered = start(CollectiveKind::kAllGather, layer);
      now = std::max(now, gathered);
    }
    if (overlap.gathers && needs_gather(pass + 1))
      gathered = start(CollectiveKind::kAllGather, layer_of(pass + 1));
    const double seconds = pass_seconds(layer, sizes[layer], pass >= layers);
    now += seconds;
    compute += seconds;
    if (pass < layers) continue;
    now = std::max(now, scattered);
    scattered = start(CollectiveKind::kReduceScatter, layer);
    if (!overlap.reduce_scatters) now = scattered;
  }
  return {compute, std::max(now, scattered)};
}

bool is_same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); }

Hint hint_for(const Case& example, double seconds) {
  const auto takes = [&](Overlap overlap) {
    return is_same(seconds, schedule_of(example, overlap).finish);
  };
  // A gather that starts where it is needed waits for the reduce-scatter before it, too.
  if (takes({.gathers = false})) {
    return {"nothing-overlaps",
            "nothing is hidden: start the next layer's all_gather_async before this layer's pass, "
            "or it also waits for the reduce-scatter before it"};
  }
  if (takes({.reduce_scatters = false})) {
    return {"reduce-scatter-not-hidden",
            "each reduce-scatter is waited for before the next backward: wait before the next one "
            "is packed"};
  }
  return {"start-one-pass-ahead",
          "start the next layer's gather before each pass, forward and back, and wait for a "
          "reduce-scatter only before the next one"};
}

std::optional<Difference> compare_time(const RunReport& report, const Case& example) {
  const Schedule best = schedule_of(example, {});
  const double seconds = report.virtual_seconds / steps_in(example);
  if (seconds <= best.finish || is_same(seconds, best.finish)) return std::nullopt;
  Hint hint = hint_for(example, seconds);
  hint.text = fmt::format("passes take {:.4g} µs; {}", best.compute * 1e6, hint.text);
  return Difference{"exposed communication",
                    -1,
                    fmt::format("{:.4g} µs", best.exposed() * 1e6),
                    fmt::format("{:.4g} µs", (seconds - best.compute) * 1e6),
                    hint,
                    0};
}

/// Finds a gather that starts before the last pass but one has ended. Passes and gathers have a
/// known order, so counting them is enough. Another number of gathers is a matter of cost.
std::optional<Difference> compare_starts(const RunReport& report, const Case& example) {
  const std::size_t layers = sizes_in(example).size(), passes = 2 * layers, gathers = passes - 1;
  for (std::size_t rank = 0; rank < report.trace.ranks.size(); ++rank) {
    const auto is_gather = [](const Event& event) {
      return event.kind == EventKind::kCollective && event.collective == CollectiveKind::kAllGather;
    };
    const std::vector<Event>& events = report.trace.ranks[rank];
    const std::int64_t number_of_gathers = std::count_if(events.begin(), events.end(), is_gather);
    if (number_of_gathers != steps_in(example) * static_cast<std::int64_t>(gathers)) continue;
    std::size_t begun = 0, started = 0;
    for (const Event& event : events) {
      if (event.kind == EventKind::kCompute) ++begun;
      if (!is_gather(event)) continue;
      const std::size_t step = started / gathers, number = started % gathers;
      ++started;
      const std::size_t pass = number < layers ? number : number + 1;  // that needs it
      const std::size_t needed = step * passes + pass - std::min<std::size_t>(pass, 1);
      if (begun >= needed) continue;
      return Difference{
          fmt::format("gather {} starts", number + 1),
          -1,
          fmt::format("after {} passes", needed - step * passes),
          fmt::format("after {}", begun - std::min(begun, step * passes)),
          {"gathered-too-early",
           "then more than two layers are whole or in flight: start the gather for a pass when the "
           "last pass but one is over"},
          static_cast<int>(rank),
          FailureKind::kMemory,
          nullptr,
          &event};
    }
  }
  return std::nullopt;
}

std::optional<Difference> run(Function function, Comm& dist, const Case& example) {
  const ShardBytes bytes = shard_bytes(sizes_in(example), dist.world_size());
  // The weights of two layers, the gradients of one, a flat tensor of gradients, the shards'
  // gradients, and one spare shard.
  const MemoryLimit limit = {4 * bytes.largest + bytes.all_shards + bytes.largest_shard,
                             bytes.all_shards};
  ShardedTraining training(example, dist.rank(), by_layer);
  training.set_on_pass([&](const Layer& active, bool is_backward) {
    std::size_t number = 0;  // among layers with weights
    for (std::int64_t i = 0; i < training.model.size(); ++i) {
      Layer& layer = training.model.layer(i);
      const std::vector<Parameter*> own = layer.parameters();
      if (&layer == &active && !own.empty()) {
        dist.compute(pass_seconds(number, sizes_in(example)[number], is_backward),
                     Label(fmt::format("{}{}", is_backward ? 'B' : 'F', number)));
      }
      number += own.empty() ? 0 : 1;
    }
  });
  return run_whole_step(function, dist, training, limit, Whole::kNext);
}

/// Says how much of the communication passes hide.
std::string remark_on_overlap(const std::function<double(const Case&)>& seconds_of) {
  const Case example = {.world_size = 8, .count = 160, .steps = 0};
  const Schedule none = schedule_of(example, {.gathers = false, .reduce_scatters = false});
  return fmt::format(
      "exposed communication: {:.4g} µs beside passes of {:.4g} µs; without overlap {:.4g} µs ({})",
      (seconds_of(example) - none.compute) * 1e6, none.compute * 1e6, none.exposed() * 1e6,
      to_string(example));
}

}  // namespace

Family family::fsdp_prefetch() {
  Subject subject = subject_of_sharding(calls, {check_of(FailureKind::kMemory, compare_starts),
                                                check_of(FailureKind::kCost, compare_time)});
  subject.remark = remark_on_overlap;
  return make_family<Function>(
      "fsdp_prefetch",
      "(Comm& dist, Sequential& model, const Batch& batch, Saved& saved, std::vector<Shard>& "
      "shards, Loss& loss, Optimizer& optimizer)",
      std::move(subject), run);
}

}  // namespace rankbox
