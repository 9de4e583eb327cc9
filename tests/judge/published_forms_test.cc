// Chapters 6 and 9 on the virtual clock against the closed forms of their papers, and against
// those of `./rankbox plan`. Nothing here takes a figure from the judge.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "cli/plan/closed_forms.h"
#include "comm/memory_meter.h"
#include "comm/run_ranks.h"
#include "parallel/ddp_average_gradients.h"
#include "parallel/ddp_buckets.h"
#include "parallel/ddp_overlap.h"
#include "parallel/fsdp_prefetch.h"
#include "parallel/hsdp.h"
#include "parallel/shard.h"
#include "parallel/zero1.h"
#include "parallel/zero2.h"
#include "parallel/zero3.h"
#include "training/cross_entropy.h"
#include "training/layers/linear.h"
#include "training/sequential.h"
#include "training/sgd.h"

namespace rankbox {
namespace {

Cluster cluster_with(const Link& link) {
  Cluster cluster;
  cluster.within_node = link;
  cluster.between_nodes = link;
  cluster.gamma = 0;
  return cluster;
}

// ---- Buckets ---------------------------------------------------------------------------------

/// One parameter, and a backward that takes time.
class Timed : public Layer {
 public:
  Timed(Comm& dist, std::int64_t elements, double seconds)
      : weight_{"weight", zeros(elements)}, dist_(dist), seconds_(seconds) {}

  Tensor forward(Tensor x, Saved& /*saved*/) override { return x; }
  Tensor backward(Tensor dy, Saved& /*saved*/) override {
    dist_.compute(seconds_);
    weight_.gradient = full(weight_.value.size(), 1);
    return dy;
  }
  std::vector<Parameter*> parameters() override { return {&weight_}; }

 private:
  Parameter weight_;
  Comm& dist_;
  double seconds_;
};

struct TimedLayer {
  std::int64_t elements = 1;
  double seconds = 0;
};

const Cluster& slow_links() {
  static const Cluster cluster = cluster_with({2, 0.125});
  return cluster;
}

double all_reduce_seconds(int p, std::int64_t elements) {
  return run_world({.world_size = p, .cluster = slow_links()},
                   [&](Comm& dist) {
                     Tensor tensor = zeros(elements);
                     dist.all_reduce(tensor);
                   })
      .virtual_seconds;
}

/// Returns the elements of each bucket and the layer of its last gradient, by Li et al.: from the
/// last layer to the first, none larger than `bytes` but for a gradient that is.
std::vector<std::pair<std::int64_t, std::size_t>> buckets_of(const std::vector<TimedLayer>& layers,
                                                             std::int64_t bytes) {
  std::vector<std::pair<std::int64_t, std::size_t>> buckets;
  for (std::size_t i = layers.size(); i-- > 0;) {
    const std::int64_t elements = layers[i].elements;
    if (buckets.empty() || 4 * (buckets.back().first + elements) > bytes) {
      buckets.emplace_back(elements, i);
    } else {
      buckets.back().first += elements;
      buckets.back().second = i;
    }
  }
  return buckets;
}

TEST_CASE("buckets: the last is done at max(ready, the one before) + its all-reduce, and so on") {
  std::mt19937 random(34);
  for (int row = 0; row < 60; ++row) {
    const int p = 2 + row % 4;
    std::vector<TimedLayer> layers(1 + random() % 6);
    for (TimedLayer& layer : layers)
      layer = {1 + static_cast<std::int64_t>(random() % 40), static_cast<double>(random() % 30)};
    const auto bytes = static_cast<std::int64_t>(1 + random() % 300);
    CAPTURE(row);

    std::vector<double> ready(layers.size());
    double backward = 0;
    for (std::size_t i = layers.size(); i-- > 0;) ready[i] = backward += layers[i].seconds;
    double finish = 0;
    double in_order = 0;
    for (const auto& [elements, last] : buckets_of(layers, bytes)) {
      finish = std::max(ready[last], finish) + all_reduce_seconds(p, elements);
      in_order += all_reduce_seconds(p, elements);
    }

    const auto seconds_of = [&](bool overlaps) {
      return run_world({.world_size = p, .cluster = slow_links()},
                       [&](Comm& dist) {
                         Sequential model;
                         for (const auto& [elements, seconds] : layers)
                           model.add("layer", std::make_unique<Timed>(dist, elements, seconds));
                         Saved saved;
                         if (overlaps) return ddp_overlap(dist, model, zeros({1, 1}), saved, bytes);
                         model.backward(zeros({1, 1}), saved);
                         ddp_buckets(dist, model.parameters(), bytes);
                       })
          .virtual_seconds;
    };
    CHECK(seconds_of(true) == doctest::Approx(finish).epsilon(1e-12));
    CHECK(seconds_of(false) == doctest::Approx(backward + in_order).epsilon(1e-12));
  }
}

TEST_CASE("buckets: what the planner says of equal layers, a bucket each") {
  for (const int p : {2, 3, 4}) {
    for (const std::int64_t layers : {1, 2, 3, 6}) {
      for (const double seconds : {0.0, 3.0, 12.0, 100.0}) {
        CAPTURE(p);
        CAPTURE(layers);
        CAPTURE(seconds);
        const auto run = run_world({.world_size = p, .cluster = slow_links()}, [&](Comm& dist) {
          Sequential model;
          for (std::int64_t i = 0; i < layers; ++i)
            model.add("layer", std::make_unique<Timed>(dist, 12, seconds));
          Saved saved;
          ddp_overlap(dist, model, zeros({1, 1}), saved, 4 * 12);
        });
        const double planned = plan::overlapped_seconds(layers, seconds, all_reduce_seconds(p, 12));
        CHECK(run.virtual_seconds == doctest::Approx(planned).epsilon(1e-12));
      }
    }
  }
}

// ---- ZeRO ------------------------------------------------------------------------------------

constexpr std::int64_t kWidth = 24;
constexpr double kPsi = 2 * kWidth * kWidth;  // elements of two layers' weights; 2, 3, 4, 6 and 8
                                              // divide those of each

struct Step {
  double bytes = 0;       // that the busiest rank sends
  std::int64_t held = 0;  // by a rank after the step, in tensors
};

/// @param stage 0: data parallel without shards; else that of ZeRO
Step zero_step(int stage, int p) {
  // Latency is next to nothing, so that native collectives are those of the least bytes.
  const auto run =
      run_ranks({.world_size = p, .cluster = cluster_with({1e-12, 1})}, [&](Comm& dist) {
        const auto held = [] { return current_memory_meter()->current_bytes; };
        const std::int64_t before = held();
        const Tensor some = full({kWidth, kWidth}, 0.125F);
        Sequential model(
            Model{recipe<Linear>("fc1", some, Tensor()), recipe<Linear>("fc2", some, Tensor())});
        std::vector<Shard> shards;
        if (stage == 1) shards.push_back(make_shard(model.parameters(), dist.rank(), p));
        for (std::int64_t i = 0; stage > 1 && i < model.size(); ++i)
          shards.push_back(make_shard(model.layer(i).parameters(), dist.rank(), p));
        if (stage == 3) drop_values(model.parameters());
        Sgd optimizer(stage == 0 ? model.parameters() : mine_of(shards),
                      {.learning_rate = 0.5, .momentum = 0.5});
        {
          const Batch batch = {full({1, kWidth}, 1), {0}, {}, {}};
          Saved saved;
          Loss loss;
          if (stage == 3) {
            zero3(dist, model, batch, saved, shards, loss, optimizer);
          } else {
            loss = cross_entropy(model.forward(batch.x, saved), batch.labels);
            if (stage == 2) zero2(dist, model, std::move(loss.gradient), saved, shards, optimizer);
            if (stage < 2) model.backward(std::move(loss.gradient), saved);
            if (stage == 1) zero1(dist, model.parameters(), shards.front(), optimizer);
            if (stage == 0) ddp_average_gradients(dist, model.parameters());
            if (stage == 0) optimizer.step();
          }
        }
        return held() - before - some.bytes();
      });
  return {run.report.cost.bytes, run.results[0]};
}

/// Returns the time of the collectives on a layer's weights: a gather, and a reduce-scatter.
std::pair<double, double> seconds_of_shards(int p, std::int64_t elements) {
  const std::int64_t shard = shard_size(elements, p);
  const auto seconds_of = [&](bool gathers) {
    return run_world({.world_size = p, .cluster = slow_links()},
                     [&](Comm& dist) {
                       Tensor mine = zeros(shard), all = zeros(shard * p);
                       if (gathers) return dist.all_gather(mine, all);
                       dist.reduce_scatter(all, mine);
                     })
        .virtual_seconds;
  };
  return {seconds_of(true), seconds_of(false)};
}

/// Runs fsdp_prefetch once over layers whose backward takes time.
double seconds_of_prefetch(int p, const std::vector<TimedLayer>& layers) {
  const auto run = run_world({.world_size = p, .cluster = slow_links()}, [&](Comm& dist) {
    Sequential model;
    std::vector<Shard> shards;
    for (const auto& [elements, seconds] : layers) {
      model.add("layer", std::make_unique<Timed>(dist, elements, seconds));
      shards.push_back(make_shard(model.layer(model.size() - 1).parameters(), dist.rank(), p));
    }
    drop_values(model.parameters());
    Sgd optimizer(mine_of(shards), {.learning_rate = 0.5, .momentum = 0});
    Saved saved;
    Loss loss;
    const Batch batch = {full({1, 2}, 1), {0}, {}, {}};
    fsdp_prefetch(dist, model, batch, saved, shards, loss, optimizer);
  });
  return run.virtual_seconds;
}

TEST_CASE("prefetch: what the planner says of equal layers") {
  for (const int p : {2, 3, 4}) {
    for (const std::int64_t layers : {1, 2, 3, 6}) {
      for (const double seconds : {0.0, 3.0, 12.0, 100.0}) {
        CAPTURE(p);
        CAPTURE(layers);
        CAPTURE(seconds);
        const auto [gather, scatter] = seconds_of_shards(p, 12);
        const double planned = plan::prefetched_forward(layers, 0, gather) +
                               plan::prefetched_backward(layers, seconds, gather, scatter);
        const std::vector<TimedLayer> equal(static_cast<std::size_t>(layers), {12, seconds});
        CHECK(seconds_of_prefetch(p, equal) == doctest::Approx(planned).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("prefetch: a pass takes its own time, or that of what travels under it") {
  std::mt19937 random(2304);
  for (int row = 0; row < 40; ++row) {
    CAPTURE(row);
    const int p = 2 + row % 4;
    std::vector<TimedLayer> layers(1 + random() % 5);
    std::vector<double> gather, scatter;
    for (TimedLayer& layer : layers) {
      layer = {1 + static_cast<std::int64_t>(random() % 40), static_cast<double>(random() % 30)};
      const auto [gathering, scattering] = seconds_of_shards(p, layer.elements);
      gather.push_back(gathering);
      scatter.push_back(scattering);
    }
    double expected = scatter[0];
    for (const double each : gather) expected += each;  // forward takes no time
    for (std::size_t i = layers.size(); i-- > 0;) {
      const double after = i + 1 < layers.size() ? scatter[i + 1] : 0;
      expected += std::max(layers[i].seconds, (i > 0 ? gather[i - 1] : 0) + after);
    }
    CHECK(seconds_of_prefetch(p, layers) == doctest::Approx(expected).epsilon(1e-12));
  }
}

constexpr std::pair<int, plan::Sharding> kStages[] = {{0, plan::Sharding::kNone},
                                                      {1, plan::Sharding::kZero1},
                                                      {2, plan::Sharding::kZero2},
                                                      {3, plan::Sharding::kZero3}};

TEST_CASE("ZeRO: stages 1 and 2 send what data parallel ranks send, stage 3 half as much again") {
  for (const int p : {2, 3, 4, 6, 8}) {
    CAPTURE(p);
    const double once = (p - 1.0) / p * 4 * kPsi;  // of a reduce-scatter, and of an all-gather
    CHECK(zero_step(0, p).bytes == doctest::Approx(2 * once));
    CHECK(zero_step(1, p).bytes == doctest::Approx(2 * once));
    CHECK(zero_step(2, p).bytes == doctest::Approx(2 * once));
    CHECK(zero_step(3, p).bytes == doctest::Approx(3 * once));
    for (const auto& [stage, sharding] : kStages) {
      CHECK(zero_step(stage, p).bytes ==
            doctest::Approx(plan::bytes_of_sharding(sharding, p, p, 1, 4 * kPsi)));
    }
  }
}

TEST_CASE("ZeRO: weights, gradients and momentum of 4Ψ each are sharded one after the other") {
  for (const int p : {2, 3, 4, 6, 8}) {
    CAPTURE(p);
    const auto whole = static_cast<std::int64_t>(4 * kPsi);
    // A shard's values and its mean gradient are two tensors more.
    CHECK(zero_step(0, p).held == 3 * whole);
    CHECK(zero_step(1, p).held == 2 * whole + 3 * whole / p);
    CHECK(zero_step(2, p).held == whole + 3 * whole / p);
    CHECK(zero_step(3, p).held == 3 * whole / p);
    const auto bytes = static_cast<double>(whole);
    for (const auto& [stage, sharding] : kStages) {
      // The planner counts no second copy of a shard: its values, and in stage 1 its gradient.
      const plan::State state = plan::sharded_state(sharding, p, {bytes, bytes, bytes});
      const double copies = (stage == 1 ? 2 : stage == 2 ? 1 : 0) * bytes / p;
      CHECK(static_cast<double>(zero_step(stage, p).held) == doctest::Approx(state.all() + copies));
    }
  }
}

TEST_CASE("HSDP: bytes of a rank inside its node, and of its shard to other nodes") {
  for (const auto& [nodes, ranks] : {std::pair(1, 4), {2, 1}, {2, 2}, {2, 4}, {3, 2}, {4, 2}}) {
    CAPTURE(nodes);
    CAPTURE(ranks);
    const int p = nodes * ranks;
    const auto run = run_world(
        {.world_size = p, .nodes = nodes, .cluster = cluster_with({1e-12, 1})}, [&](Comm& dist) {
          const Tensor some = full({kWidth, kWidth}, 0.125F);
          Sequential model(
              Model{recipe<Linear>("fc1", some, Tensor()), recipe<Linear>("fc2", some, Tensor())});
          std::vector<Shard> shards;
          for (std::int64_t i = 0; i < model.size(); ++i) {
            shards.push_back(make_shard(model.layer(i).parameters(), dist.rank() % ranks, ranks));
          }
          drop_values(model.parameters());
          Sgd optimizer(mine_of(shards), {.learning_rate = 0.5, .momentum = 0.5});
          const Batch batch = {full({1, kWidth}, 1), {0}, {}, {}};
          hsdp(dist, model, {batch}, shards, ranks, optimizer);
        });
    CHECK(run.cost.bytes ==
          doctest::Approx(plan::bytes_of_sharding(plan::Sharding::kHybrid, p, ranks, 1, 4 * kPsi)));
  }
}

}  // namespace
}  // namespace rankbox
