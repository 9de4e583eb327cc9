// Every algorithm of every collective is correct, and wrong results are detected.
#include "cli/compare/plan/algorithms.h"

#include <algorithm>
#include <set>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"

namespace rankbox::cli {
namespace {

std::int64_t wrong_elements(const Algorithm& algorithm, int world_size, std::int64_t bytes,
                            ReduceOp op, bool spoil = false, int root = 0) {
  const std::int64_t elements = elements_of(algorithm.collective, world_size, bytes);
  const auto [wrong, report] = run_ranks({.world_size = world_size}, [&](Comm& dist) {
    const RankPart part = {algorithm.collective, dist.rank(), world_size, elements, op, root};
    Buffers buffers = make_buffers(part);
    fill_input(buffers, part);
    call_once(algorithm, dist, buffers, {op, 3, root});
    if (spoil && dist.rank() == root) {
      const Slice result = buffers.output.empty() ? buffers.input : buffers.output;
      detail::fill(result.sub(0, 1), -1.0);
    }
    return count_wrong(buffers, part);
  });
  std::int64_t sum = 0;
  for (const std::int64_t of_rank : wrong) {
    sum += of_rank;
  }
  return sum;
}

/// Returns the given world sizes for which there are enough ranks.
std::vector<int> possible(std::vector<int> world_sizes) {
  const int processes = launch().processes;
  if (processes > 0) std::erase_if(world_sizes, [=](int size) { return size > processes; });
  if (world_sizes.empty()) testing::pass_over("too few processes");
  return world_sizes;
}

TEST_CASE("every algorithm's result is found right, in any world, of any size and for any op") {
  for (const CollectiveKind collective : compared_collectives()) {
    for (const Algorithm& algorithm : algorithms_of(collective)) {
      for (const int world_size : possible({1, 2, 3, 4, 5, 8})) {
        for (const std::int64_t bytes : {4, 8, 52, 4096}) {
          for (const ReduceOp op : kReduceOps) {
            CAPTURE(name_of(collective));
            CAPTURE(algorithm.name);
            CAPTURE(world_size);
            CAPTURE(bytes);
            CAPTURE(name_of(op));
            CHECK(wrong_elements(algorithm, world_size, bytes, op) == 0);
            if (!is_reducing(collective)) {
              break;
            }
          }
        }
      }
    }
  }
}

TEST_CASE("any rank may be the root") {
  for (const CollectiveKind collective : compared_collectives()) {
    if (!has_root(collective)) continue;
    for (const Algorithm& algorithm : algorithms_of(collective)) {
      for (const int world_size : possible({2, 3, 5})) {
        for (int root = 1; root < world_size; ++root) {
          CAPTURE(name_of(collective));
          CAPTURE(algorithm.name);
          CAPTURE(world_size);
          CAPTURE(root);
          CHECK(wrong_elements(algorithm, world_size, 4096, ReduceOp::SUM, false, root) == 0);
          CHECK(wrong_elements(algorithm, world_size, 4096, ReduceOp::SUM, true, root) == 1);
        }
      }
    }
  }
}

TEST_CASE("what is longer than the stage between device and host is checked to its end") {
  const std::int64_t bytes = std::int64_t{4} * (2 * 251 * 4096 + 1000);  // of buffers.cc
  const Algorithm native = algorithms_of(CollectiveKind::kAllReduce).front();
  for (const int world_size : possible({2})) {
    CHECK(wrong_elements(native, world_size, bytes, ReduceOp::SUM) == 0);
  }
}

TEST_CASE("a piece in another's place is seen") {
  if (possible({4}).empty()) return;
  const std::int64_t elements = 4 * 1000;
  const auto [wrong, report] = run_ranks({.world_size = 4}, [&](Comm& dist) {
    const RankPart part = {CollectiveKind::kAllGather, dist.rank(), 4, elements};
    Buffers buffers = make_buffers(part);
    fill_input(buffers, part);
    dist.all_gather(buffers.input, buffers.output);
    Tensor other = clone(buffers.output);
    copy(chunk(buffers.output, 1, 4), chunk(other, 2, 4));
    return count_wrong(buffers, part);
  });
  CHECK(wrong == std::vector<std::int64_t>(4, 1000));
}

TEST_CASE("one wrong element is counted as one") {
  for (const CollectiveKind collective : compared_collectives()) {
    if (collective == CollectiveKind::kBarrier) {
      continue;  // has no result
    }
    for (const int world_size : possible({1, 2, 5})) {
      CAPTURE(name_of(collective));
      CAPTURE(world_size);
      CHECK(wrong_elements(algorithms_of(collective).front(), world_size, 4096, ReduceOp::SUM,
                           true) == 1);
    }
  }
}

TEST_CASE("algorithms are named by their exercises, without the collective") {
  const struct {
    const char* exercise;
    CollectiveKind collective;
    const char* name;
  } table[] = {{"allreduce_ring", CollectiveKind::kAllReduce, "ring"},
               {"reduce_scatter_gather", CollectiveKind::kReduce, "scatter_gather"},
               {"reduce_scatter_ring", CollectiveKind::kReduceScatter, "ring"},
               {"broadcast_ring_pipelined", CollectiveKind::kBroadcast, "ring_pipelined"},
               {"barrier_dissemination", CollectiveKind::kBarrier, "dissemination"},
               {"alltoall_pairwise", CollectiveKind::kAllToAll, "pairwise"}};
  for (const auto& row : table) {
    CAPTURE(row.exercise);
    const auto found = collective_and_name_of(row.exercise);
    REQUIRE(found.has_value());
    CHECK(found->first == row.collective);
    CHECK(found->second == row.name);
  }
  for (const char* other : {"race", "ping_pong", "ddp_buckets", "no_such_exercise"}) {
    CHECK_FALSE(collective_and_name_of(other).has_value());
  }
}

TEST_CASE("each collective's native way comes first, and names are not repeated") {
  for (const CollectiveKind collective : compared_collectives()) {
    CAPTURE(name_of(collective));
    const std::vector<Algorithm> algorithms = algorithms_of(collective);
    REQUIRE(algorithms.size() >= 2);
    CHECK(algorithms.front().name == "native");
    CHECK(algorithms.front().whose == Whose::kNative);
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        CHECK(algorithms[i].name != algorithms[j].name);
      }
    }
  }
}

TEST_CASE("inputs are random, differ between ranks, and have exact sums") {
  const auto input_of = [](int rank, int world_size) {
    const RankPart part = {CollectiveKind::kAllReduce, rank, world_size, 1000};
    Buffers buffers = make_buffers(part);
    fill_input(buffers, part);
    return to_host(buffers.input);
  };
  if (!why_no_ranks().empty()) return testing::pass_over(why_no_ranks());
  for (const int world_size : {1, 2, 3, 8, 1024, 65536}) {
    CAPTURE(world_size);
    const std::vector<float> input = input_of(0, world_size);
    const std::set<float> values(input.begin(), input.end());
    CHECK(values.size() > 100);
    CHECK(*values.begin() >= 1);
    CHECK(*values.rbegin() <= 0x1p24f / static_cast<float>(world_size));
    CHECK(*values.rbegin() > 0x1p22f / static_cast<float>(world_size));  // uses the bits there are
    CHECK(input == input_of(0, world_size));
    CHECK(input != input_of(1, world_size));
  }
}

TEST_CASE("bus factors are those of nccl-tests") {
  CHECK(bus_factor(CollectiveKind::kAllReduce, 4) == 1.5);
  CHECK(bus_factor(CollectiveKind::kAllGather, 4) == 0.75);
  CHECK(bus_factor(CollectiveKind::kReduceScatter, 4) == 0.75);
  CHECK(bus_factor(CollectiveKind::kAllToAll, 2) == 0.5);
  CHECK(bus_factor(CollectiveKind::kBroadcast, 4) == 1);
  CHECK(bus_factor(CollectiveKind::kReduce, 4) == 1);
}

}  // namespace
}  // namespace rankbox::cli
