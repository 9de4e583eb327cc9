// The closed forms agree with the sandbox's clock.
#include "cli/compare/plan/closed_form.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "cli/compare/plan/jobs.h"
#include "comm/run_ranks.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

const Cluster kFlat = {"flat", {2e-6, 1e-9}, {2e-6, 1e-9}, 3e-10, 0};
const Cluster kTwoPerNode = {"two", {1e-6, 1e-10}, {9e-6, 2e-9}, 3e-10, 2};

RunReport run_of(const Job& job, const Cluster& cluster) {
  const Row& row = job.row;
  RunOptions options;
  options.world_size = row.world_size;
  options.nodes = cluster.nodes_for(row.world_size);
  options.cluster = cluster;
  const auto [ignored, report] = run_ranks(options, [&](Comm& dist) {
    Buffers buffers = make_buffers(part_of(job, dist.rank()));
    call_once(job.algorithm, dist, buffers, job.settings);
  });
  return report;
}

double by_the_clock(const Job& job, const Cluster& cluster) {
  return run_of(job, cluster).virtual_seconds;
}

/// Returns all jobs of all contests.
std::vector<Job> jobs_of(const Plan& plan, int world_size) {
  std::vector<Job> jobs;
  for (const Contest& contest : contests_of(plan, world_size, algorithms_in(plan))) {
    jobs.insert(jobs.end(), contest.begin(), contest.end());
  }
  return jobs;
}

TEST_CASE("with one class of links, the form of every algorithm is the clock's time") {
  Plan plan;
  plan.collectives = {compared_collectives().begin(), compared_collectives().end()};
  plan.cluster = kFlat;
  plan.sizes = {64, 2048, 65536};
  for (const int world_size : {1, 2, 3, 4, 5, 8}) {
    for (const Job& job : jobs_of(plan, world_size)) {
      CAPTURE(name_of(job.row.collective));
      CAPTURE(job.row.algorithm);
      CAPTURE(world_size);
      CAPTURE(job.row.bytes);
      REQUIRE(job.row.virtual_seconds.has_value());
      CHECK(*job.row.virtual_seconds == doctest::Approx(by_the_clock(job, kFlat)));
    }
  }
}

TEST_CASE("in segments: any number of them, and rings also where adding is slower than sending") {
  const Cluster slow_to_add = {"slow", {2e-6, 1e-9}, {2e-6, 1e-9}, 5e-9, 0};
  const struct {
    const char* algorithm;
    Cluster cluster;
    std::vector<int> world_sizes;
  } rows[] = {{"ring_segmented", kFlat, {1, 2, 4, 8}},
              {"ring_segmented", slow_to_add, {1, 2, 4, 8}},
              {"double_tree", kFlat, {1, 2, 3, 4, 7, 8, 12, 16}}};
  for (const auto& row : rows) {
    for (const int segments : {1, 2, 4, 16}) {
      Plan plan;
      plan.algorithms = {row.algorithm};
      plan.cluster = row.cluster;
      plan.sizes = {2048, 65536};
      plan.segments = segments;
      for (const int world_size : row.world_sizes) {
        for (const Job& job : jobs_of(plan, world_size)) {
          if (job.row.whose == Whose::kNative) continue;
          CAPTURE(row.algorithm);
          CAPTURE(row.cluster.name);
          CAPTURE(segments);
          CAPTURE(world_size);
          CAPTURE(job.row.bytes);
          CHECK(*job.row.virtual_seconds == doctest::Approx(by_the_clock(job, row.cluster)));
        }
      }
    }
  }
}

TEST_CASE("the cost of two trees has the longest chain of messages, and that of additions") {
  for (const int segments : {1, 2, 4, 16}) {
    Plan plan;
    plan.algorithms = {"double_tree"};
    plan.cluster = kFlat;
    plan.sizes = {65536};
    plan.segments = segments;
    for (const int world_size : {1, 2, 4, 8, 16}) {
      const Job job = jobs_of(plan, world_size).back();
      REQUIRE(job.row.cost.has_value());
      CAPTURE(segments);
      CAPTURE(world_size);
      const Cost cost = run_of(job, kFlat).cost;
      CHECK(job.row.cost->steps == cost.steps);
      CHECK(job.row.cost->bytes == cost.bytes);
      CHECK(job.row.cost->reduced == cost.reduced);
    }
  }
}

TEST_CASE("with nodes, a hierarchical all-reduce uses the links of each phase") {
  Plan plan;
  plan.algorithms = {"hierarchical"};
  plan.cluster = kTwoPerNode;
  plan.sizes = {4096};
  for (const int world_size : {4, 8}) {
    const Job job = jobs_of(plan, world_size).back();
    CAPTURE(world_size);
    CHECK(*job.row.virtual_seconds == doctest::Approx(by_the_clock(job, kTwoPerNode)));
  }
}

TEST_CASE("where nodes differ in size, a hierarchical all-reduce has neither cost nor time") {
  Plan plan;
  plan.algorithms = {"hierarchical"};
  plan.cluster = kTwoPerNode;
  const Job job = jobs_of(plan, 5).back();
  CHECK_FALSE(job.row.virtual_seconds.has_value());
  CHECK_FALSE(job.row.cost.has_value());
}

TEST_CASE("with nodes, the other forms are never quicker than the clock") {
  Plan plan;
  plan.collectives = {CollectiveKind::kAllReduce, CollectiveKind::kBroadcast};
  plan.cluster = kTwoPerNode;
  plan.sizes = {4096};
  for (const Job& job : jobs_of(plan, 8)) {
    if (job.row.algorithm == "native") continue;
    CAPTURE(job.row.algorithm);
    CHECK(*job.row.virtual_seconds >= by_the_clock(job, kTwoPerNode) * (1 - 1e-9));
  }
}

/// Returns the jobs of an all-reduce for 8 B to 1 GiB, each size four times the one before.
std::vector<Job> all_reduces(const std::string& preset, int world_size,
                             const std::vector<std::string>& algorithms) {
  Plan plan;
  plan.cluster = cluster_named(preset);
  plan.algorithms = algorithms;
  plan.sizes.clear();
  for (std::int64_t bytes = 8; bytes <= std::int64_t{1} << 30; bytes *= 4)
    plan.sizes.push_back(bytes);
  return jobs_of(plan, world_size);
}

TEST_CASE("in one node, programs of messages do not beat the native all-reduce that was measured") {
  struct Row {
    const char* preset;
    double most;  // times the best topology; the model knows no protocols, which cost an A100 most
  };
  const Row rows[] = {
      {"h100-nvlink", 1.0}, {"h100-efa", 1.0}, {"pcie-4090", 1.2}, {"a100-infiniband", 1.8}};
  for (const Row& row : rows) {
    std::map<std::int64_t, double> native, best;
    for (const Job& job : all_reduces(row.preset, 8, {"butterfly", "ring", "rabenseifner"})) {
      const double seconds = *job.row.virtual_seconds;
      if (job.row.whose == Whose::kNative) {
        native[job.row.bytes] = seconds;
      } else {
        const auto [place, is_first] = best.try_emplace(job.row.bytes, seconds);
        place->second = std::min(place->second, seconds);
      }
    }
    CHECK(native.size() == 14);
    for (const auto& entry : native) {
      CAPTURE(row.preset);
      CAPTURE(entry.first);
      CHECK(entry.second <= row.most * best.at(entry.first));
    }
  }
}

TEST_CASE("across nodes, the hierarchical all-reduce beats a flat ring") {
  for (const char* preset : {"h100-efa", "a100-infiniband"}) {
    std::map<std::int64_t, double> hierarchical, ring;
    for (const Job& job : all_reduces(preset, 16, {"ring", "hierarchical"})) {
      if (job.row.algorithm == "ring") ring[job.row.bytes] = *job.row.virtual_seconds;
      if (job.row.algorithm == "hierarchical") {
        hierarchical[job.row.bytes] = *job.row.virtual_seconds;
      }
    }
    CHECK(ring.size() == 14);
    for (const auto& entry : ring) {
      CAPTURE(preset);
      CAPTURE(entry.first);
      CHECK(hierarchical.at(entry.first) < entry.second);
    }
  }
}

TEST_CASE("an algorithm without an entry in the registry has neither cost nor virtual time") {
  Row row;
  row.algorithm = "mine";
  set_closed_form(row, 1, kFlat);
  CHECK_FALSE(row.virtual_seconds.has_value());
  CHECK_FALSE(row.cost.has_value());
}

}  // namespace
}  // namespace rankbox::cli
