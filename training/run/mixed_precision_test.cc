// Rounding to 16 bits, and the ranks' agreement when gradients overflow.
#include "training/run/mixed_precision.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include <doctest/doctest.h>

#include "comm/dtype.h"
#include "comm/run_ranks.h"
#include "compute/autocast.h"
#include "compute/portable.h"
#include "parallel/distributed_sampler.h"
#include "tests/support/run_tests.h"
#include "training/layers/linear.h"
#include "training/models/mlp.h"
#include "training/run/loop.h"
#include "training/run/strategies/strategy.h"
#include "training/run/trained.h"

namespace rankbox::train {
namespace {

/// In the Euclidean norm: where an activation is near 0, rounding may turn its gradient on or off.
double distance(const Values& a, const Values& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(double{a[i]} - b[i], 2);
  return std::sqrt(sum);
}

TEST_CASE("with 16 bits a model learns the same up to rounding, and ranks stay equal") {
  const struct {
    const char* model;
    Precision precision;
    double on_host;  // bound of the distance from fp32, in units of the way that fp32 went
  } table[] = {{"mlp", Precision::kMixed, 0.01},
               {"convnet", Precision::kMixed, 0.05},
               {"mlp", Precision::kBf16, 0.05},
               {"convnet", Precision::kBf16, 0.05}};
  for (const auto& row : table) {
    const Task task = small_task(row.model);
    const Trained fp32 = train(small_plan("single", 1), task);
    Plan plan = small_plan("single", 1);
    plan.precision = row.precision;
    const Trained single = train(plan, task);
    CAPTURE(row.model);
    CAPTURE(name_of(row.precision));
    const double moved = distance(fp32.after[0], fp32.before[0]);
    const double off = distance(single.after[0], fp32.after[0]) / moved;
    CHECK(off > 0);
    // On GPUs activations are rounded, too.
    const double bound = kOnGpu ? 0.1 : row.on_host;
    CHECK(off < bound);

    plan.strategy = "ddp";
    const bool is_large = std::string(row.model) == "convnet";
    for (const int ranks : world_sizes()) {
      if (is_large && ranks != world_sizes().back()) continue;
      CAPTURE(ranks);
      plan.ranks = ranks;
      const Trained ddp = train(plan, task);
      for (const Values& rank : ddp.after) CHECK(rank == ddp.after[0]);
      if (!is_large) CHECK(distance(ddp.after[0], single.after[0]) / moved < bound);
      plan.all_reduce = "tree";
      const Trained tree = train(plan, task);
      plan.all_reduce = "native";
      CHECK(distance(tree.after[0], ddp.after[0]) / moved < bound);
    }
  }
}

TEST_CASE("where one rank's gradients overflow, all skip, with unchanged masters") {
  for (const int ranks : world_sizes()) {
    run_ranks({.world_size = ranks, .trace = false}, [&](Comm& dist) {
      LossScale start;
      start.scale = 1024;
      start.good_steps = 5;
      MixedPrecision mixed(Precision::kMixed, start);
      Parameter weight{"weight", from_host({1.0f, 0.1f})};
      float seen = 0;
      DType factors{};
      // 100 · 1024 overflows 16 bits, and only the last rank has it.
      const bool large = dist.rank() == ranks - 1;
      const auto find = [&](float factor) {
        seen = to_host(weight.value)[1];
        factors = Autocast::type();
        weight.gradient = from_host({(large ? 100.0f : 1.0f) * factor, 0.0f});
        return Loss{};
      };
      bool skip = false;
      mixed.find_gradients(dist, {&weight}, find, {}, skip);
      CHECK(skip);
      CHECK(mixed.scale() == 512);
      CHECK(factors == DType::kFloat16);
      CHECK(Autocast::type() == DType::kFloat32);
      CHECK(seen == static_cast<float>(Float16(0.1f)));  // forward sees it rounded to 16 bits
      CHECK(to_host(weight.value)[1] == 0.1f);

      mixed.find_gradients(dist, {&weight}, find, {}, skip);
      CHECK(!skip);
      const auto p = static_cast<float>(ranks);
      CHECK(to_host(weight.gradient)[0] == (p - 1 + 100) / p);
      return 0;
    });
  }
}

TEST_CASE("where one rank's part overflows, no rank accepts, and the scale is halved") {
  for (const int ranks : world_sizes()) {
    run_ranks({.world_size = ranks, .trace = false}, [&](Comm& dist) {
      LossScale start;
      start.scale = 1024;
      MixedPrecision mixed(Precision::kMixed, start);
      Parameter part{"part", from_host({1.0f})};
      const bool large = dist.rank() == ranks - 1;
      part.gradient = from_host({large ? INFINITY : 1.0f});
      CHECK(!mixed.accept(dist, {&part}));
      CHECK(mixed.scale() == 512);
      part.gradient = from_host({1024.0f});
      CHECK(mixed.accept(dist, {&part}));
      CHECK(to_host(part.gradient)[0] == 2);
      return 0;
    });
  }
}

TEST_CASE("layers that round train with 16-bit weights and gradients, and evaluate with masters") {
  constexpr float kThird = 1.0f / 3;
  run_ranks({.world_size = world_sizes().back(), .trace = false}, [&](Comm&) {
    LossScale start;
    start.scale = 8;
    MixedPrecision mixed(Precision::kMixed, start);
    const Model plain = {{"fc", [] {
                            return std::make_unique<Linear>(full({1, 1}, kThird), zeros(1));
                          }}};
    Sequential model(mixed.rounding_layers(plain));
    model.add("loss_scale", mixed.loss_scale_layer());
    Saved saved;
    const auto half = static_cast<float>(Float16(kThird));
    CHECK(to_host(model.forward(full({1, 1}, 1.0f), saved))[0] == half);
    model.backward(full({1, 1}, kThird), saved);
    CHECK(to_host(model.parameters()[0]->gradient)[0] == static_cast<float>(Float16(8 * kThird)));
    CHECK(to_host(model.parameters()[0]->value)[0] == kThird);
    // The next gradient is less than half the spacing of 16 bits there: it must not be lost.
    constexpr float kSmall = 1.0f / 16384;
    model.forward(full({1, 1}, 1.0f), saved);
    model.backward(full({1, 1}, kSmall), saved);
    CHECK(to_host(model.parameters()[0]->gradient)[0] ==
          static_cast<float>(Float16(8 * kThird)) + 8 * kSmall);
    Saved evaluation(Pass{.mode = Mode::kEvaluation});
    CHECK(to_host(model.forward(full({1, 1}, 1.0f), evaluation))[0] == kThird);
    return 0;
  });
}

TEST_CASE("bf16 scales nothing and skips nothing: large gradients arrive, rounded, and averaged") {
  run_ranks({.world_size = world_sizes().back(), .trace = false}, [&](Comm& dist) {
    MixedPrecision bf16(Precision::kBf16);
    CHECK(bf16.state().empty());
    Parameter weight{"weight", from_host({1.0f, 0.1f})};
    float seen = 0, factor = 0;
    DType factors{};
    const auto find = [&](float times) {
      seen = to_host(weight.value)[1];
      factor = times;
      factors = Autocast::type();
      weight.gradient = from_host({1e30f, 0.1f});
      return Loss{};
    };
    const auto average = [&] { dist.all_reduce(weight.gradient, ReduceOp::AVG); };
    bool skip = true;
    bf16.find_gradients(dist, {&weight}, find, average, skip);
    CHECK(!skip);
    CHECK(factor == 1);
    CHECK(factors == DType::kBFloat16);
    CHECK(Autocast::type() == DType::kFloat32);
    CHECK(seen == static_cast<float>(BFloat16(0.1f)));
    CHECK(to_host(weight.value)[1] == 0.1f);
    CHECK(to_host(weight.gradient)[0] == doctest::Approx(float(BFloat16(1e30f))).epsilon(1e-6));
    CHECK(to_host(weight.gradient)[1] == doctest::Approx(float(BFloat16(0.1f))).epsilon(1e-6));
    return 0;
  });
}

/// A trainer in mixed precision, its loss scale, and one batch.
class Scaled {
 public:
  Scaled(Comm& dist, const Task& task, const Plan& plan, float scale)
      : dist_(dist),
        trainer_(strategy_named(plan.strategy).make(dist, task.model, plan)),
        batches_(first_batches(task, plan)) {
    if (dist.rank() == 0) copy(state(), from_host({scale, kGoodSteps}));
    trainer_->start();
    trainer_->optimizer().set_learning_rate(plan.learning_rate);
  }

  static constexpr float kGoodSteps = 5;

  /// Every call takes a step with the same samples.
  void step() { trainer_->step(batches_, 0); }

  /// Returns the scale and the number of good steps, on all ranks those of rank 0.
  std::vector<float> scale() {
    Tensor both = zeros(2);
    trainer_->gather();
    if (dist_.rank() == 0) copy(both, state());
    trainer_->release();
    dist_.broadcast(both, 0);
    return to_host(both);
  }
  /// Returns the whole model's parameters, or nothing.
  Values values() {
    trainer_->gather();
    Values all;
    for (const Parameter* parameter : trainer_->parameters()) {
      const Values own = to_host(parameter->value);
      all.insert(all.end(), own.begin(), own.end());
    }
    trainer_->release();
    return all;
  }

 private:
  std::vector<Batch> first_batches(const Task& task, const Plan& plan) {
    const DataShare share = trainer_->data_share();
    const DataLoader loader(task.data.train,
                            {.batch = plan.batch / share.parts,
                             .drop_last = true,
                             .seed = plan.seed,
                             .rank = share.part,
                             .world_size = share.parts},
                            distributed_sampler);
    return batches_of(0, loader, plan);
  }
  Slice state() {
    TrainingState all;
    trainer_->add_state(all);
    const auto found =
        std::ranges::find(all.tensors, "loss_scale", [](const auto& named) { return named.first; });
    REQUIRE(found != all.tensors.end());
    return found->second;
  }

  Comm& dist_;
  std::unique_ptr<Trainer> trainer_;
  std::vector<Batch> batches_;
};

TEST_CASE("in every strategy a step that overflows changes nothing but the scale, on all ranks") {
  Task layers = small_task("mlp");
  layers.model = mlp({.hidden = {32, 32}});  // enough for a pipeline of 4
  std::vector<Plan> plans;
  for (const Strategy* strategy : strategies())
    plans.push_back(small_plan(std::string(strategy->name).c_str(), 1));
  plans.push_back(small_plan("ddp", 1));
  plans.back().overlap = true;
  for (Plan& plan : plans) {
    if (!testing::wants_row(plan.strategy)) continue;
    const Task task = plan.strategy == "expert" ? small_task("moe") : layers;
    plan.precision = Precision::kMixed;
    for (const int ranks : world_sizes()) {
      if (plan.strategy == "single" && ranks != 1) continue;
      plan.ranks = ranks;
      CAPTURE(plan.overlap);
      CAPTURE(plan.strategy);
      CAPTURE(ranks);
      run_ranks({.world_size = ranks, .trace = false}, [&](Comm& dist) {
        Scaled overflows(dist, task, plan, 0x1p28F);
        const Values before = overflows.values();
        overflows.step();
        CHECK(overflows.scale() == std::vector<float>{0x1p27F, 0});
        CHECK(overflows.values() == before);

        // Halved until the gradients fit. Then the first step is that of a run that starts with
        // this scale: momentum has not seen the others, and all ranks divide by the same scale.
        while (overflows.scale()[1] == 0 && overflows.scale()[0] > 1) overflows.step();
        const float scale = overflows.scale()[0];
        CHECK(scale > 1);
        Scaled fits(dist, task, plan, scale);
        CHECK(fits.values() == before);
        fits.step();
        CHECK(fits.scale() == std::vector<float>{scale, Scaled::kGoodSteps + 1});
        const Values after = fits.values();
        CHECK(overflows.values() == after);
        if (!after.empty()) CHECK(after != before);
        return 0;
      });
    }
  }
}

}  // namespace
}  // namespace rankbox::train
