// Chapter 9, as an instructor would test it: values and costs that are worked out by hand, then the
// judge's rows. NAME_exercise_test runs a function's test cases on the learner's file.
#include <utility>

#include <doctest/doctest.h>

#include "parallel/clip_global_norm.h"
#include "parallel/fsdp_prefetch.h"
#include "parallel/hsdp.h"
#include "parallel/mesh_layout.h"
#include "parallel/reshard.h"
#include "parallel/shard.h"
#include "parallel/zero1.h"
#include "parallel/zero2.h"
#include "parallel/zero3.h"
#include "tests/support/judge_rows.h"
#include "tests/support/on_ranks.h"
#include "training/cross_entropy.h"
#include "training/layers/linear.h"
#include "training/sgd.h"

namespace rankbox {

namespace {

/// Returns two layers without biases. The first turns a sample x into (x, 0), and the second
/// computes two logits from that, x and x: each class has the probability 1/2.
Model model_of_two_layers() {
  return {recipe<Linear>("fc1", from_host(Values{1, 0}, {2, 1}), Tensor()),
          recipe<Linear>("fc2", from_host(Values{1, 1, 1, -1}, {2, 2}), Tensor())};
}

/// Returns the rank's batch, of one sample x = 2 rank + 1 with label 0.
Batch batch_of(int rank) { return {full({1, 1}, static_cast<float>(2 * rank + 1)), {0}, {}, {}}; }

// The derivatives by the logits are (-1/2, 1/2), so those by (x, 0) are (0, -1). The gradients of a
// rank are (0, -x) and (-x/2, 0, x/2, 0). Of four ranks, the mean of x = 1, 3, 5, 7 is 4. The
// gradients are then (0, -4) and (-2, 0, 2, 0), and half of them is subtracted from the weights.
constexpr SgdOptions kSgd = {.learning_rate = 0.5, .momentum = 0};
const Values kAfterStep = {/*fc1*/ 1, 2, /*fc2*/ 2, 1, 0, -1};

/// Returns what a test compares after the step.
using Look = Values (*)(Sequential& model, std::vector<Shard>& shards);

Values all_weights(Sequential& model, std::vector<Shard>& /*shards*/) {
  Values all;
  for (const Parameter* parameter : model.parameters()) {
    for (const float each : to_host(parameter->value)) all.push_back(each);
  }
  return all;
}

Values weights_of_shards(Sequential& /*model*/, std::vector<Shard>& shards) {
  Values all;
  for (const Shard& shard : shards) {
    for (const float each : to_host(shard.mine.value)) all.push_back(each);
  }
  return all;
}

Values gradients_of_shards(Sequential& /*model*/, std::vector<Shard>& shards) {
  Values all;
  for (const Shard& shard : shards) {
    for (const float each : to_host(shard.mine.gradient)) all.push_back(each);
  }
  return all;
}

/// Returns a shard of each layer: number `place` of `ranks`.
std::vector<Shard> shards_of(int place, int ranks, Sequential& model) {
  std::vector<Shard> shards;
  for (std::int64_t i = 0; i < model.size(); ++i)
    shards.push_back(make_shard(model.layer(i).parameters(), place, ranks));
  return shards;
}
std::vector<Shard> shards_of(const Comm& dist, Sequential& model) {
  return shards_of(dist.rank(), dist.world_size(), model);
}

auto stepping_zero1(Look look) {
  return [=](Comm& dist) {
    Sequential model(model_of_two_layers());
    std::vector<Shard> shards;
    shards.push_back(make_shard(model.parameters(), dist.rank(), dist.world_size()));
    Sgd optimizer(mine_of(shards), kSgd);
    const Batch batch = batch_of(dist.rank());
    Saved saved;
    Loss loss = cross_entropy(model.forward(batch.x, saved), batch.labels);
    model.backward(std::move(loss.gradient), saved);
    zero1(dist, model.parameters(), shards.front(), optimizer);
    return look(model, shards);
  };
}

auto stepping_zero2(Look look) {
  return [=](Comm& dist) {
    Sequential model(model_of_two_layers());
    std::vector<Shard> shards = shards_of(dist, model);
    Sgd optimizer(mine_of(shards), kSgd);
    const Batch batch = batch_of(dist.rank());
    Saved saved;
    Loss loss = cross_entropy(model.forward(batch.x, saved), batch.labels);
    zero2(dist, model, std::move(loss.gradient), saved, shards, optimizer);
    return look(model, shards);
  };
}

/// @param step zero3, or another function with its contract
auto stepping_zero3(Look look, decltype(&zero3) step = zero3) {
  return [=](Comm& dist) {
    Sequential model(model_of_two_layers());
    std::vector<Shard> shards = shards_of(dist, model);
    drop_values(model.parameters());
    Sgd optimizer(mine_of(shards), kSgd);
    Saved saved;
    Loss loss;
    step(dist, model, batch_of(dist.rank()), saved, shards, loss, optimizer);
    return look(model, shards);
  };
}

/// Returns a step on nodes of two ranks.
auto stepping_hsdp(Look look) {
  return [=](Comm& dist) {
    constexpr int kRanksPerNode = 2;
    Sequential model(model_of_two_layers());
    std::vector<Shard> shards = shards_of(dist.rank() % kRanksPerNode, kRanksPerNode, model);
    drop_values(model.parameters());
    Sgd optimizer(mine_of(shards), kSgd);
    hsdp(dist, model, {batch_of(dist.rank())}, shards, kRanksPerNode, optimizer);
    return look(model, shards);
  };
}

/// Returns a call that clips a sharded gradient of 200 on rank 0, 300 on the others, and a
/// replicated one of 600. It returns the norm and both gradients.
auto clipping(float max_norm) {
  return [=](Comm& dist) {
    Parameter sharded = {"sharded", zeros(1), full(1, dist.rank() == 0 ? 200.0F : 300.0F)};
    Parameter replicated = {"replicated", zeros(1), full(1, 600)};
    double norm = 0;
    clip_global_norm(dist, {&sharded}, {&replicated}, max_norm, norm);
    return Values{static_cast<float>(norm), to_host(sharded.gradient)[0],
                  to_host(replicated.gradient)[0]};
  };
}

/// Returns a call that reshards the matrix of rows (1, 2, 3) and (4, 5, 6) on a mesh of one row.
auto resharding(Placement from, Placement to) {
  return [=](Comm& dist) {
    const auto layout = [&](Placement placement) {
      return MeshLayout{{1, dist.world_size()}, {Placement::kReplicate, placement}};
    };
    const Region whole = {0, 2, 0, 3};
    const Region held = region_of(layout(from), dist.rank(), 2, 3);
    Tensor mine({held.rows(), held.columns()});
    pack_part(from_host(Values{1, 2, 3, 4, 5, 6}, {2, 3}), whole, held, mine);
    Tensor output;
    reshard(dist, mine, layout(from), layout(to), 2, 3, output);
    return to_host(output);
  };
}

}  // namespace

TEST_CASE("zero1: judged") { judge_rows("zero1"); }

TEST_CASE("zero1: every rank ends with the weights after a step with the mean gradient") {
  CHECK(on_ranks(4, stepping_zero1(all_weights)) == every(4, kAfterStep));
}

TEST_CASE("zero1: the shards are quarters of the weights, which are padded with two zeros") {
  CHECK(on_ranks(4, stepping_zero1(weights_of_shards)) ==
        std::vector<Values>{{1, 2}, {2, 1}, {0, -1}, {0, 0}});
}

TEST_CASE("zero1: all gradients are reduce-scattered once, and all weights gathered once") {
  // Of 8 floats, 3/4 are sent in two halvings; then shards of 2 floats double to 4.
  CHECK(cost_of(4, stepping_zero1(all_weights)) == Cost{2 + 2, 24 + (8 + 16), 24});
}

TEST_CASE("zero2: judged") { judge_rows("zero2"); }

TEST_CASE("zero2: every rank ends with the weights after a step with the mean gradient") {
  CHECK(on_ranks(4, stepping_zero2(all_weights)) == every(4, kAfterStep));
}

TEST_CASE("zero2: each rank keeps its two shards of the mean gradients") {
  // A quarter of fc1's (0, -4), with two zeros after it, and a quarter of fc2's (-2, 0, 2, 0).
  CHECK(on_ranks(4, stepping_zero2(gradients_of_shards)) ==
        std::vector<Values>{{0, -2}, {-4, 0}, {0, 2}, {0, 0}});
}

TEST_CASE("zero2: zero1's bytes, in two collectives for each layer") {
  // Padded, each layer has 4 floats: 12 bytes to scatter them, and 4 + 8 to gather them.
  CHECK(cost_of(4, stepping_zero2(all_weights)) == Cost{2 * (2 + 2), 2 * (12 + 12), 2 * 12});
}

TEST_CASE("zero3: judged") { judge_rows("zero3"); }

TEST_CASE("zero3: the shards are quarters of each layer's weights after the step") {
  CHECK(on_ranks(4, stepping_zero3(weights_of_shards)) ==
        std::vector<Values>{{1, 2}, {2, 1}, {0, 0}, {0, -1}});
}

TEST_CASE("zero3: between steps no rank has the weights of a layer") {
  CHECK(on_ranks(4, stepping_zero3(all_weights)) == every(4, {}));
}

TEST_CASE("zero3: weights are gathered twice, so it sends half as much again as zero2") {
  CHECK(cost_of(4, stepping_zero3(all_weights)) == Cost{2 * (2 + 4), 2 * (12 + 24), 2 * 12});
}

TEST_CASE("fsdp_prefetch: judged") { judge_rows("fsdp_prefetch"); }

TEST_CASE("fsdp_prefetch: the shards are those of zero3, and no rank has a whole layer") {
  CHECK(on_ranks(4, stepping_zero3(weights_of_shards, fsdp_prefetch)) ==
        std::vector<Values>{{1, 2}, {2, 1}, {0, 0}, {0, -1}});
  CHECK(on_ranks(4, stepping_zero3(all_weights, fsdp_prefetch)) == every(4, {}));
}

TEST_CASE("fsdp_prefetch: the last layer is gathered once, for both of its passes") {
  CHECK(cost_of(4, stepping_zero3(all_weights, fsdp_prefetch)) ==
        Cost{2 * (2 + 4) - 2, 2 * (12 + 24) - 12, 2 * 12});
}

TEST_CASE("hsdp: judged") { judge_rows("hsdp"); }

TEST_CASE("hsdp: each node has the halves of each layer's weights after the step") {
  CHECK(on_ranks(4, stepping_hsdp(weights_of_shards)) ==
        std::vector<Values>{{1, 2, 1}, {2, 0, -1}, {1, 2, 1}, {2, 0, -1}});
  CHECK(on_ranks(4, stepping_hsdp(all_weights)) == every(4, {}));
}

TEST_CASE("hsdp: a layer is gathered twice, scattered once, and its shard all-reduced once") {
  // Two splits of 2 steps; shards of 4 and 8 bytes, four times to one partner.
  CHECK(cost_of(4, stepping_hsdp(all_weights)) == Cost{4 + 2 * 4, 4 * 12, 2 * 12});
}

TEST_CASE("reshard: judged") { judge_rows("reshard"); }

TEST_CASE("reshard: rows become columns, and parts come together") {
  using enum Placement;
  CHECK(on_ranks(2, resharding(kShard0, kShard1)) == std::vector<Values>{{1, 4}, {2, 3, 5, 6}});
  CHECK(on_ranks(2, resharding(kShard1, kShard0)) == std::vector<Values>{{1, 2, 3}, {4, 5, 6}});
  CHECK(on_ranks(3, resharding(kShard1, kReplicate)) == every(3, {1, 2, 3, 4, 5, 6}));
  // Of two rows on three ranks, the first rank has none.
  CHECK(on_ranks(3, resharding(kReplicate, kShard0)) ==
        std::vector<Values>{{}, {1, 2, 3}, {4, 5, 6}});
}

TEST_CASE("reshard: only what a rank does not hold travels") {
  using enum Placement;
  // Rank 0 sends 2 and 3, and receives 4.
  CHECK(cost_of(2, resharding(kShard0, kShard1)) == Cost{1, 2 * 4, 0});
  CHECK(cost_of(2, resharding(kReplicate, kShard1)) == Cost{1, 0, 0});
  CHECK(cost_of(2, resharding(kShard0, kShard0)) == Cost{1, 0, 0});
}

TEST_CASE("clip_global_norm: judged") { judge_rows("clip_global_norm"); }

TEST_CASE("clip_global_norm: all gradients are halved when the norm is twice as large as allowed") {
  // The norm is √(200² + 300² + 600²) = 700: the replicated gradient counts once. It is so large
  // that the 10⁻⁶ of the factor's denominator is lost in rounding.
  CHECK(on_ranks(2, clipping(350)) == std::vector<Values>{{700, 100, 300}, {700, 150, 300}});
  CHECK(on_ranks(2, clipping(1000)) == std::vector<Values>{{700, 200, 600}, {700, 300, 600}});
}

TEST_CASE("clip_global_norm: one double is all-reduced, however many gradients there are") {
  CHECK(cost_of(8, clipping(350)) == Cost{3, 3 * sizeof(double), 3 * sizeof(double)});
}

}  // namespace rankbox
