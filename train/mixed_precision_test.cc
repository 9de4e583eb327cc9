// Rounding to 16 bits, and the ranks' agreement when gradients overflow.
#include "train/mixed_precision.h"

#include <string>

#include <doctest/doctest.h>

#include "comm/float16.h"
#include "comm/run_ranks.h"
#include "train/trained.h"

namespace rankbox::train {
namespace {

TEST_CASE("mixed precision learns the same up to 16-bit rounding, and ranks stay equal") {
  for (const char* model : {"mlp", "convnet"}) {
    const Task task = small_task(model);
    const Trained fp32 = train(small_plan("single", 1), task);
    Plan plan = small_plan("single", 1);
    plan.precision = Precision::kMixed;
    const Trained single = train(plan, task);
    CAPTURE(model);
    const double moved = largest_difference(fp32.after[0], fp32.before[0]);
    const double off = largest_difference(single.after[0], fp32.after[0]);
    CHECK(off > 0);
    CHECK(off < 0.05 * moved);

    plan.strategy = "ddp";
    for (const int ranks : world_sizes()) {
      CAPTURE(ranks);
      plan.ranks = ranks;
      const Trained ddp = train(plan, task);
      for (const Values& rank : ddp.after) CHECK(rank == ddp.after[0]);
      if (std::string(model) == "mlp")
        CHECK(largest_difference(ddp.after[0], single.after[0]) < 0.02 * moved);
      plan.all_reduce = "tree";
      const Trained tree = train(plan, task);
      plan.all_reduce = "native";
      CHECK(largest_difference(tree.after[0], ddp.after[0]) < 0.02 * moved);
    }
  }
}

TEST_CASE("where one rank's gradients overflow, all skip, with unchanged masters") {
  for (const int ranks : world_sizes()) {
    run_ranks({.world_size = ranks, .trace = false}, [&](Comm& dist) {
      LossScale start;
      start.scale = 1024;
      start.good_steps = 5;
      MixedPrecision mixed(start);
      Parameter weight{"weight", from_host({1.0f, 0.1f})};
      float seen = 0;
      // 100 · 1024 overflows 16 bits, and only the last rank has it.
      const bool large = dist.rank() == ranks - 1;
      const auto find = [&](float factor) {
        seen = weight.value.data()[1];
        gradient_of(weight).data()[0] = (large ? 100.0f : 1.0f) * factor;
        gradient_of(weight).data()[1] = 0;
        return Loss{};
      };
      bool skip = false;
      mixed.find_gradients(dist, {&weight}, find, {}, skip);
      CHECK(skip);
      CHECK(mixed.scale() == 512);
      CHECK(seen == static_cast<float>(Float16(0.1f)));  // forward sees it rounded to 16 bits
      CHECK(weight.value.data()[1] == 0.1f);

      mixed.find_gradients(dist, {&weight}, find, {}, skip);
      CHECK(!skip);
      const auto p = static_cast<float>(ranks);
      CHECK(weight.gradient.data()[0] == (p - 1 + 100) / p);
      return 0;
    });
  }
}

}  // namespace
}  // namespace rankbox::train
