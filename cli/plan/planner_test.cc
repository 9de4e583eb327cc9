// Counts of parameters, degrees that divide what they cut, and what a plan may not do.
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "cli/plan/search.h"
#include "comm/errors.h"
#include "sim/clusters/clusters.h"

namespace rankbox::plan {
namespace {

Task task_of(const char* model, std::int64_t gpus, std::int64_t batch,
             const char* cluster = "h100-ib") {
  Task task;
  task.model = model_named(model);
  task.sequence = task.model.sequence;
  task.batch = batch;
  task.gpus = gpus;
  task.cluster = cluster_named(cluster);
  task.gpu = gpu_named("", task.cluster.name);
  return task;
}

TEST_CASE("parameters are those of the published models, to the last one") {
  const std::vector<std::pair<const char*, std::int64_t>> models = {
      {"gpt2", 1'557'611'200},    // GPT-2 XL
      {"7B", 6'738'415'616},      // Llama 2 7B
      {"8B", 8'030'261'248},      // Llama 3 8B
      {"13B", 13'015'864'320},    // Llama 2 13B
      {"8x7B", 46'702'792'704},   // Mixtral 8x7B
      {"70B", 70'553'706'496},    // Llama 3 70B
      {"405B", 405'853'388'800},  // Llama 3.1 405B
  };
  for (const auto& [name, parameters] : models) {
    CAPTURE(name);
    CHECK(count_parameters(model_named(name)).all == parameters);
  }
}

TEST_CASE("a GPT layer saves 34h bytes for a token, and its products take 24h² operations") {
  const Transformer model = model_named("96x12288x96");
  const double h = 12288;
  CHECK(saved_bytes_per_token(model) == 34 * 12288);
  const Operations once = operations_per_token(model, 2048);
  CHECK(once.of_products == doctest::Approx(24 * h * h).epsilon(1e-3));  // and of biases
  CHECK(once.of_attention == 0.5 * 4 * 2048 * h);
}

TEST_CASE("every layout uses all GPUs, processes the whole batch, and divides what it cuts") {
  for (const char* name : {"7B", "8x7B", "70B"}) {
    for (const std::int64_t gpus : {1, 6, 16, 64}) {
      const Task task = task_of(name, gpus, 96);
      for (const Estimate& each : search(task, {})) {
        const Layout& layout = each.layout;
        CAPTURE(name_of(layout));
        REQUIRE(layout.gpus() == gpus);
        REQUIRE(layout.data * layout.micro_batch * layout.micro_batches == task.batch);
        REQUIRE(task.model.kv_heads % layout.tensor == 0);
        REQUIRE(layout.data % layout.expert == 0);
        REQUIRE(layout.replicas() % layout.shard == 0);
        REQUIRE((8 % layout.tensor == 0 || layout.tensor % 8 == 0));
        if (layout.context > 1) REQUIRE(task.sequence % (2 * layout.context) == 0);
        REQUIRE(each.seconds.all() > 0);
        REQUIRE(each.seconds.data >= 0);
        REQUIRE(each.mfu < 1);
        if (task.model.experts == 0) REQUIRE(layout.expert == 1);
      }
    }
  }
}

TEST_CASE(
    "those that fit come first, the fastest first up to half a per cent; each strategy's first is "
    "its best") {
  const std::vector<Estimate> all = search(task_of("7B", 64, 256), {});
  for (std::size_t i = 1; i < all.size(); ++i) {
    REQUIRE(all[i - 1].fits >= all[i].fits);
    if (all[i].fits) REQUIRE(all[i - 1].seconds.all() <= 1.006 * all[i].seconds.all());
  }
  std::set<std::string> strategies;
  for (const Use& use : best_use_of_each(all)) strategies.insert(use.strategy);
  CHECK(strategies == std::set<std::string>{"DDP", "ZeRO-1", "ZeRO-2", "FSDP", "HSDP", "TP", "CP",
                                            "GPipe", "1F1B", "interleaved", "zero bubble"});
}

TEST_CASE("a plan's state is 16 bytes a parameter, and each stage of ZeRO divides more of it") {
  Task task = task_of("7B", 64, 256);
  const double parameters = 6'738'415'616 - 4096;  // the last norm is not counted
  const std::vector<std::pair<Sharding, double>> shardings = {{Sharding::kNone, 16},
                                                              {Sharding::kZero1, 4 + 12.0 / 64},
                                                              {Sharding::kZero2, 2 + 14.0 / 64},
                                                              {Sharding::kZero3, 16.0 / 64},
                                                              {Sharding::kHybrid, 16.0 / 8}};
  for (const auto& [sharding, bytes] : shardings) {
    CAPTURE(name_of(sharding));
    Wanted wanted;
    wanted.sharding = sharding;
    wanted.tensor = wanted.pipeline = wanted.context = 1;
    CHECK(search(task, wanted).front().memory.state.all() ==
          doctest::Approx(bytes * parameters).epsilon(1e-12));
  }
}

TEST_CASE("context ranks of a node share experts: cutting sequences leaves no more to send") {
  Wanted wanted;
  wanted.tensor = wanted.pipeline = wanted.context = 1;
  wanted.expert = 4;
  wanted.sharding = Sharding::kZero3;
  wanted.recomputes = false;
  const double one = search(task_of("8x7B", 64, 256), wanted).front().seconds.all();
  wanted.context = 2;
  CHECK(search(task_of("8x7B", 64, 256), wanted).front().seconds.all() < 1.1 * one);
}

TEST_CASE("the last stage of a pipeline holds logits") {
  Wanted wanted;
  wanted.tensor = wanted.context = wanted.micro_batch = 1;
  wanted.pipeline = 4;
  wanted.sharding = Sharding::kZero1;
  wanted.schedule = Schedule::k1f1b;
  wanted.recomputes = true;
  const Memory memory = search(task_of("8B", 64, 1024), wanted).front().memory;
  CHECK(memory.working >= 8.0 * 8192 * 128256);
}

TEST_CASE("more bandwidth is no slower, and what is refused says what to change") {
  for (const char* strategy : {"7B", "8x7B"}) {
    const double slow = search(task_of(strategy, 64, 256, "h100-efa"), {}).front().seconds.all();
    const double fast = search(task_of(strategy, 64, 256, "h100-ib"), {}).front().seconds.all();
    CHECK(fast <= 1.006 * slow);  // within half a per cent, the one that holds less comes first
  }
  const struct {
    std::int64_t gpus;
    void (*fix)(Wanted& wanted);
    const char* says;
  } refused[] = {
      {64, [](Wanted& wanted) { wanted.tensor = 3; }, "32 heads"},
      {64, [](Wanted& wanted) { wanted.pipeline = 24; }, "64 GPUs"},
      {64, [](Wanted& wanted) { wanted.pipeline = 64; }, "32 layers"},
      {64, [](Wanted& wanted) { wanted.context = 3; }, "64 GPUs"},
      {64, [](Wanted& wanted) { wanted.expert = 8; }, "no experts"},
      {64, [](Wanted& wanted) { wanted.micro_batch = 3; }, "256 sequences"},
      {8, [](Wanted& wanted) { wanted.sharding = Sharding::kHybrid; }, "several nodes"},
      {1, [](Wanted& wanted) { wanted.sharding = Sharding::kZero3; }, "more --gpus"},
      {1, [](Wanted& wanted) { wanted.schedule = Schedule::kGpipe; }, "--pipeline"},
  };
  for (const auto& [gpus, fix, says] : refused) {
    CAPTURE(says);
    Wanted wanted;
    fix(wanted);
    CHECK_THROWS_WITH_AS(search(task_of("7B", gpus, 256), wanted), doctest::Contains(says),
                         InvalidArgument);
  }
  for (const char* name : {"48x6144x5", "10000x10000000x1", "4294967297x128x2", "48x 6144x64"}) {
    CAPTURE(name);
    CHECK_THROWS_AS(model_named(name), InvalidArgument);
  }
  CHECK_THROWS_WITH_AS(model_named("9B"), doctest::Contains("405B"), InvalidArgument);
  CHECK_THROWS_WITH_AS(gpu_named("", "mine"), doctest::Contains("--gpu"), InvalidArgument);
  CHECK_THROWS_WITH_AS(gpu_named("v100", "mine"), doctest::Contains("a100"), InvalidArgument);
}

}  // namespace
}  // namespace rankbox::plan
