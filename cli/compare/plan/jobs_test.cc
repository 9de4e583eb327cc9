// The jobs of a plan and their order.
#include "cli/compare/plan/jobs.h"

#include <algorithm>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "comm/errors.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

Plan plan_of(CollectiveKind collective, std::int64_t min, std::int64_t max) {
  Plan plan;
  plan.collectives = {collective};
  plan.algorithms = {"native"};
  plan.sizes.clear();
  for (std::int64_t bytes = std::max<std::int64_t>(min, 1); bytes <= max; bytes *= 2) {
    plan.sizes.push_back(bytes);
  }
  return plan;
}

std::vector<Job> jobs_of(const Plan& plan, int world_size) {
  std::vector<Job> jobs;
  for (const Contest& contest : contests_of(plan, world_size, algorithms_in(plan))) {
    jobs.insert(jobs.end(), contest.begin(), contest.end());
  }
  return jobs;
}

TEST_CASE("sizes and counts are those of nccl-tests") {
  const struct {
    CollectiveKind collective;
    std::int64_t bytes;
    std::int64_t size;
    int root;
  } table[] = {
      {kAllReduce, 1024, 1024, -1}, {kAllReduce, 7, 4, -1},       {kBroadcast, 1024, 1024, 2},
      {kReduce, 1024, 1024, 2},     {kAllGather, 1024, 1020, -1}, {kAllGather, 4, 12, -1},
      {kGather, 1024, 1020, 2},     {kScatter, 1024, 1020, 2},    {kReduceScatter, 1024, 1020, -1},
      {kAllToAll, 1024, 1020, -1},  {kBarrier, 1024, 0, -1},
  };
  for (const auto& row : table) {
    CAPTURE(name_of(row.collective));
    CAPTURE(row.bytes);
    Plan plan = plan_of(row.collective, row.bytes, row.bytes);
    plan.root = 2;
    const std::vector<Job> jobs = jobs_of(plan, 3);
    REQUIRE_FALSE(jobs.empty());
    CHECK(jobs[0].row.bytes == row.size);
    CHECK(jobs[0].row.root == row.root);
    CHECK(jobs[0].row.elements * 4 == row.size);
    CHECK(jobs[0].settings.root == 2);
  }
}

TEST_CASE("sizes that became equal are measured once") {
  const auto sizes = [](const Plan& plan, int world_size) {
    std::vector<std::int64_t> bytes;
    for (const Job& job : jobs_of(plan, world_size)) {
      if (label_of(job.row) == "native") bytes.push_back(job.row.bytes);
    }
    return bytes;
  };
  CHECK(sizes(plan_of(kAllReduce, 0, 16), 2) == std::vector<std::int64_t>{4, 8, 16});
  CHECK(sizes(plan_of(kAllGather, 4, 64), 4) == std::vector<std::int64_t>{16, 32, 64});
  CHECK(sizes(plan_of(kBarrier, 4, 64), 4) == std::vector<std::int64_t>{0});
}

TEST_CASE("native comes first in each contest, and contests go by operation, then size") {
  Plan plan = plan_of(kAllReduce, 4, 8);
  plan.collectives = {kAllReduce, kBroadcast};
  plan.algorithms = {"ring"};
  plan.ops = {ReduceOp::SUM, ReduceOp::MAX};
  std::vector<std::string> order;
  for (const Job& job : jobs_of(plan, 2)) {
    order.push_back(fmt::format("{} {} {} {}", name_of(job.row.collective), job.row.algorithm,
                                name_of(job.row.op), job.row.bytes));
  }
  CHECK(order == std::vector<std::string>{
                     "all_reduce native SUM 4", "all_reduce ring SUM 4", "all_reduce native SUM 8",
                     "all_reduce ring SUM 8", "all_reduce native MAX 4", "all_reduce ring MAX 4",
                     "all_reduce native MAX 8", "all_reduce ring MAX 8", "broadcast native SUM 4",
                     "broadcast ring SUM 4", "broadcast native SUM 8", "broadcast ring SUM 8"});
}

TEST_CASE("all algorithms are measured unless some are named, and each has a virtual time") {
  for (const CollectiveKind collective : compared_collectives()) {
    Plan plan = plan_of(collective, 1024, 1024);
    plan.algorithms = {};
    const std::vector<Job> jobs = jobs_of(plan, 4);
    CAPTURE(name_of(collective));
    CHECK(jobs.size() == algorithms_of(collective).size());
    for (const Job& job : jobs) {
      CAPTURE(job.row.algorithm);
      REQUIRE(job.row.virtual_seconds.has_value());
      CHECK(*job.row.virtual_seconds > 0);
    }
  }
}

TEST_CASE(
    "rings and trees in segments have as many as were asked for, else what suits the cluster") {
  const struct {
    CollectiveKind collective;
    const char* algorithm;
    std::int64_t bytes;
    int segments;  // on laptop, 8 ranks
  } table[] = {{kBroadcast, "ring_pipelined", 1 << 22, 92}, {kBroadcast, "ring_pipelined", 4, 1},
               {kAllReduce, "ring_segmented", 1 << 22, 2},  {kAllReduce, "ring_segmented", 4, 1},
               {kAllReduce, "double_tree", 1 << 22, 32},    {kAllReduce, "double_tree", 4, 1}};
  for (const auto& row : table) {
    CAPTURE(row.algorithm);
    CAPTURE(row.bytes);
    Plan plan = plan_of(row.collective, row.bytes, row.bytes);
    plan.algorithms = {row.algorithm};
    CHECK(jobs_of(plan, 8).back().settings.segments == row.segments);
    plan.segments = 7;
    CHECK(jobs_of(plan, 8).back().settings.segments == 7);
  }
}

TEST_CASE("where ranks share a GPU, few segments suit large messages: each costs a start") {
  for (const CollectiveKind collective : {kBroadcast, kAllReduce}) {
    CAPTURE(name_of(collective));
    Plan plan = plan_of(collective, 64 << 20, 64 << 20);
    plan.cluster = cluster_named("one-gpu");
    for (const Job& job : jobs_of(plan, 4)) {
      CAPTURE(job.row.algorithm);
      CHECK(job.settings.segments <= 3);
    }
  }
}

TEST_CASE("without references, native and yours are left") {
  Plan plan = plan_of(kAllReduce, 4, 4);
  plan.algorithms = {};
  plan.has_reference = false;
  CHECK(jobs_of(plan, 2).size() == 1);
}

TEST_CASE("a library that cannot be loaded costs its own rows alone") {
  Plan plan = plan_of(kAllReduce, 4, 4);
  plan.algorithms = {"ring"};
  plan.mine = {{"allreduce_ring", "/no/such/library.so"}};
  const std::vector<Job> jobs = jobs_of(plan, 2);
  REQUIRE(jobs.size() == 3);
  CHECK_FALSE(jobs[1].row.failure.has_value());
  REQUIRE(jobs[2].row.failure.has_value());
  CHECK(jobs[2].row.failure->kind == "compile");
  plan.mine = {{"no_such_exercise", "/no/such/library.so"}};
  CHECK_THROWS_AS(algorithms_in(plan), Error);
}

TEST_CASE("a root outside the world is refused") {
  Plan plan = plan_of(kBroadcast, 4, 4);
  plan.root = 4;
  CHECK(jobs_of(plan, 5).size() == 1);
  CHECK_THROWS_AS(jobs_of(plan, 4), InvalidArgument);
}

}  // namespace
}  // namespace rankbox::cli
