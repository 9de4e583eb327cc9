#include "verdict/pipeline/pipeline_subject.h"

#include <algorithm>

#include "training/sgd.h"
#include "verdict/data_parallel/small_training.h"
#include "verdict/data_parallel/suspects.h"
#include "verdict/free_messages.h"
#include "verdict/pipeline/compare_run.h"
#include "verdict/pipeline/deep_model.h"
#include "verdict/pipeline/layout.h"
#include "verdict/tables.h"

namespace rankbox {

namespace {

constexpr int kSteps = 20;
constexpr int kMostRanksOfTraining = 5;  // it has nothing new to say of more
constexpr SgdOptions kSgd = {.learning_rate = 0.05, .momentum = 0.5};
constexpr float kBound = 3e-6F;  // of a gradient: additions happen in another order

std::vector<Stage> chunks_of(const Layout& layout, int rank) {
  std::vector<Stage> chunks;
  for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
    const int stage = layout.stage_of(rank, chunk);
    chunks.emplace_back(deep_model(layout.stages()), deep_cut(stage, layout.stages()));
  }
  return chunks;
}

/// Every pass takes virtual time, and leaves its name.
void watch(Comm& dist, std::vector<Stage>& chunks, std::vector<StagePass>& passes) {
  const bool several = chunks.size() > 1;
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    chunks[chunk].on_turn = [&, several, chunk](Turn turn, int micro_batch) {
      passes.push_back({turn, micro_batch, static_cast<int>(chunk)});
      dist.compute(turn == Turn::kForward ? kForwardSeconds : kBackwardSeconds,
                   label_of(passes.back(), several));
    };
  }
}

std::vector<Parameter*> parameters_of(std::vector<Stage>& chunks) {
  std::vector<Parameter*> all;
  for (Stage& chunk : chunks) {
    for (Parameter* parameter : chunk.parameters()) all.push_back(parameter);
  }
  return all;
}

void load(std::vector<Stage>& chunks, const Layout& layout, int rank, int step) {
  const Batch batch = deep_batch(layout.samples, step, layout.replica_of(rank));
  for (Stage& chunk : chunks) chunk.load(micro_batches_of(batch, layout.shape.micro_batches), step);
}

/// The gradients on one device, of the replicas' mean losses with these weights.
void add_gradients_alone(Sequential& whole, const Layout& layout, int step,
                         const std::vector<double>& weights) {
  std::vector<Weighted> batches;
  for (int replica = 0; replica < layout.replicas; ++replica) {
    const double weight = weights[static_cast<std::size_t>(replica)];
    if (weight > 0) batches.push_back({deep_batch(layout.samples, step, replica), weight});
  }
  add_weighted_gradients(whole, batches);
}

std::vector<double> equal_weights(const Layout& layout, double sum = 1) {
  return std::vector<double>(static_cast<std::size_t>(layout.replicas), sum / layout.replicas);
}

/// Those of a stage, out of the whole model's: a weight and a bias.
std::vector<NamedTensor> part_of_stage(const std::vector<NamedTensor>& whole, int stage) {
  return {whole.begin() + 2 * stage, whole.begin() + 2 * stage + 2};
}

/// What the step leaves in a stage if the replicas' mean losses have these weights.
std::vector<NamedTensor> gradients_with(const Layout& layout, int stage,
                                        const std::vector<double>& weights) {
  Sequential whole(deep_model(layout.stages()));
  add_gradients_alone(whole, layout, 0, weights);
  return part_of_stage(gradients_of(whole), stage);
}

std::vector<Suspect> suspects(const Layout& layout, int stage, int replica) {
  const auto made = [=](const std::vector<double>& weights) {
    return [=] { return gradients_with(layout, stage, weights); };
  };
  std::vector<double> own(static_cast<std::size_t>(layout.replicas), 0);
  own[static_cast<std::size_t>(replica)] = 1;
  const double m = layout.shape.micro_batches;
  return {
      {"that is this replica's own gradient: the others' are missing", made(own)},
      {"that is the sum of all replicas' gradients: their mean is wanted",
       made(equal_weights(layout, layout.replicas))},
      {"divided by the number of micro-batches once more: the stage divides each loss by the whole "
       "batch already",
       made(equal_weights(layout, 1 / m))},
      {"that is as many times too large as there are micro-batches: each loss is divided by the "
       "whole "
       "batch, so gradients just add up",
       made(equal_weights(layout, m))},
  };
}

}  // namespace

std::vector<Case> PipelineSubject::cases() const {
  std::vector<Case> all;
  for (const int world_size : world_sizes()) {
    for (const Case& example : cases_of(world_size)) {
      all.push_back(example);
      all.back().steps = 0;
    }
    if (world_size > kMostRanksOfTraining) continue;
    all.push_back(all.back());
    all.back().steps = kSteps;
  }
  return all;
}

std::vector<Case> PipelineSubject::cases_of(int world_size) const {
  std::vector<Case> some;
  for (const int micro_batches : {1, 3, 12}) {
    Case example;
    example.world_size = world_size;
    example.segments = micro_batches;
    example.count = 2 * micro_batches + 1;  // no multiple: one is larger
    some.push_back(example);
  }
  return some;
}

std::optional<Difference> PipelineSubject::run(Comm& dist, const Case& example) const {
  const Layout layout = layout_of(example);
  std::vector<Stage> chunks = chunks_of(layout, dist.rank());
  std::vector<StagePass> passes;
  watch(dist, chunks, passes);
  for (Parameter* parameter : parameters_of(chunks)) gradient_of(*parameter);

  if (*example.steps == 0) {
    load(chunks, layout, dist.rank(), 0);
    call(dist, chunks, example);
    if (!is_exact(example)) return std::nullopt;  // to be drawn, not to be judged
    return compare_gradients(chunks, dist.rank(), passes, example);
  }

  Sequential whole(deep_model(layout.stages()));
  Sgd together(parameters_of(chunks), kSgd);
  Sgd alone(whole.parameters(), kSgd);
  for (int step = 0; step < *example.steps; ++step) {
    zero_gradients(parameters_of(chunks));
    load(chunks, layout, dist.rank(), step);
    call(dist, chunks, example);
    together.step();

    zero_gradients(whole.parameters());
    add_gradients_alone(whole, layout, step, equal_weights(layout));
    alone.step();
  }
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    const int stage = layout.stage_of(dist.rank(), static_cast<int>(chunk));
    if (auto wrong = compare_tensors(values_of(chunks[chunk].layers()),
                                     part_of_stage(values_of(whole), stage), kTrainingBound, {},
                                     "one rank with the whole batch gets there in 20 steps"))
      return wrong;
  }
  return std::nullopt;
}

std::optional<Difference> PipelineSubject::compare_gradients(std::vector<Stage>& chunks, int rank,
                                                             const std::vector<StagePass>& passes,
                                                             const Case& example) const {
  const Layout layout = layout_of(example);
  for (std::size_t chunk = 0; chunk < chunks.size(); ++chunk) {
    const int stage = layout.stage_of(rank, static_cast<int>(chunk));
    auto wrong = compare_tensors(
        gradients_of(chunks[chunk].layers()), gradients_with(layout, stage, equal_weights(layout)),
        kBound, suspects(layout, stage, layout.replica_of(rank)),
        "one rank with the whole batch gets that: does each micro-batch get "
        "its own gradient back, and does each go back?");
    if (!wrong) continue;
    // An order of its own is the likeliest cause, and the easiest to see.
    const std::vector<StagePass> promised =
        schedule_.passes(layout.position_of(rank), layout.shape);
    if (const auto order = compare_order(promised, passes, rank, layout.shape.chunks > 1)) {
      wrong->hint = order->what + ": expected " + order->expected + ", got " + order->actual;
    }
    return wrong;
  }
  return std::nullopt;
}

Cluster PipelineSubject::cluster(const Case& /*example*/) const { return free_messages(); }

std::optional<Difference> PipelineSubject::compare_schedule(const RunReport& report,
                                                            const Case& example) const {
  if (*example.steps > 0) return std::nullopt;
  const Layout layout = layout_of(example);
  if (auto wrong = compare_orders(report.trace, schedule_, layout)) return wrong;
  if (auto wrong = compare_messages(report.trace, layout)) return wrong;
  return compare_idle(report, schedule_, layout);
}

std::optional<Difference> PipelineSubject::compare_memory(const RunReport& report,
                                                          const Case& example) const {
  if (*example.steps > 0) return std::nullopt;
  return compare_held(report.trace, schedule_, layout_of(example));
}

std::optional<IdleShare> PipelineSubject::idle_share(const Case& example) const {
  return IdleShare{schedule_.idle(layout_of(example).shape), schedule_.idle_formula};
}

}  // namespace rankbox
