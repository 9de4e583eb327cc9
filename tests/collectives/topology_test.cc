// Neighbours, virtual ranks, logarithms, segments and averages: tables of what they are, and laws
// that hold for every world size.
#include "collectives/topology.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/average.h"
#include "collectives/cost.h"
#include "collectives/segment.h"
#include "comm/tensor.h"

namespace rankbox {
namespace {

TEST_CASE("the ring goes once through every rank and closes, forwards and backwards") {
  for (int world_size : {1, 2, 3, 4, 5, 7, 8, 17}) {
    CAPTURE(world_size);
    std::set<int> seen;
    int rank = 0;
    for (int step = 0; step < world_size; ++step) {
      seen.insert(rank);
      CHECK(prev_rank(next_rank(rank, world_size), world_size) == rank);
      CHECK(next_rank(prev_rank(rank, world_size), world_size) == rank);
      rank = next_rank(rank, world_size);
    }
    CHECK(rank == 0);
    CHECK(static_cast<int>(seen.size()) == world_size);
  }
  CHECK(next_rank(3, 4) == 0);
  CHECK(prev_rank(0, 4) == 3);
  CHECK(next_rank(0, 1) == 0);
  CHECK(prev_rank(0, 1) == 0);
}

TEST_CASE("virtual ranks count from the root, and lead back to the rank") {
  for (int world_size : {1, 2, 3, 4, 5, 7, 8, 17}) {
    for (int root = 0; root < world_size; ++root) {
      CAPTURE(world_size);
      CAPTURE(root);
      CHECK(virtual_rank_of(root, root, world_size) == 0);
      for (int rank = 0; rank < world_size; ++rank) {
        const int virtual_rank = virtual_rank_of(rank, root, world_size);
        CHECK(virtual_rank >= 0);
        CHECK(virtual_rank < world_size);
        CHECK(rank_of(virtual_rank, root, world_size) == rank);
      }
    }
  }
  const int expected[] = {3, 4, 0, 1, 2};
  for (int rank = 0; rank < 5; ++rank) CHECK(virtual_rank_of(rank, 2, 5) == expected[rank]);
}

TEST_CASE("a root that is no rank is refused by naming it, and the ranks that there are") {
  struct Row {
    int root;
    int world_size;
  };
  for (const Row& row : {Row{-1, 4}, {4, 4}, {1, 1}, {1000, 3}}) {
    CAPTURE(row.root);
    std::string what;
    try {
      (void)virtual_rank_of(0, row.root, row.world_size);
    } catch (const InvalidArgument& error) {
      what = error.what();
    }
    CHECK(what.find(std::to_string(row.root)) != std::string::npos);
    CHECK(what.find(std::to_string(row.world_size)) != std::string::npos);
  }
}

TEST_CASE("wrap stays in [0, n), from however far below or above") {
  struct Row {
    int value;
    int n;
    int expected;
  };
  const Row rows[] = {{0, 1, 0},  {5, 1, 0},  {-5, 1, 0}, {3, 4, 3},  {4, 4, 0},
                      {9, 4, 1},  {-1, 4, 3}, {-4, 4, 0}, {-5, 4, 3}, {-13, 5, 2},
                      {-1, 7, 6}, {-7, 7, 0}, {-8, 7, 6}, {70, 7, 0}, {-17, 17, 0}};
  for (const Row& row : rows) {
    CAPTURE(row.value);
    CAPTURE(row.n);
    CHECK(wrap(row.value, row.n) == row.expected);
  }
}

TEST_CASE("powers of two and logarithms, rounded down and up") {
  struct Row {
    int n;
    bool is_power;
    int floor_log;
    int rounds_needed;
    int largest;
  };
  const Row rows[] = {
      {1, true, 0, 0, 1},         {2, true, 1, 1, 2},         {3, false, 1, 2, 2},
      {4, true, 2, 2, 4},         {5, false, 2, 3, 4},        {7, false, 2, 3, 4},
      {8, true, 3, 3, 8},         {9, false, 3, 4, 8},        {16, true, 4, 4, 16},
      {17, false, 4, 5, 16},      {31, false, 4, 5, 16},      {1023, false, 9, 10, 512},
      {1024, true, 10, 10, 1024}, {1025, false, 10, 11, 1024}};
  for (const Row& row : rows) {
    CAPTURE(row.n);
    CHECK(is_power_of_two(row.n) == row.is_power);
    CHECK(floor_log2(row.n) == row.floor_log);
    CHECK(rounds(row.n) == row.rounds_needed);
    CHECK(largest_power_of_two(row.n) == row.largest);
  }
  CHECK_FALSE(is_power_of_two(0));
  CHECK_FALSE(is_power_of_two(-4));
}

/// Where a part begins and how long it is, in elements.
std::vector<std::int64_t> extent(const Tensor& whole, Slice part) {
  return {static_cast<const float*>(part.data()) - whole.data(), part.size()};
}

TEST_CASE("in a double tree each rank has one position, and rank_at() is the inverse") {
  for (int world_size = 1; world_size <= 70; ++world_size) {
    for (const int tree : {0, 1}) {
      CAPTURE(world_size);
      CAPTURE(tree);
      std::set<int> positions;
      for (int rank = 0; rank < world_size; ++rank) {
        const int position = tree_position(tree, rank, world_size);
        positions.insert(position);
        CHECK(rank_at(tree, position, world_size) == rank);
      }
      CHECK(static_cast<int>(positions.size()) == world_size);
      CHECK(*positions.begin() == 1);
      CHECK(*positions.rbegin() == world_size);
    }
  }
}

TEST_CASE("in a double tree no rank is inner twice, or the same side of two parents") {
  for (int world_size = 1; world_size <= 70; ++world_size) {
    int leaves_twice = 0;
    for (int rank = 0; rank < world_size; ++rank) {
      CAPTURE(world_size);
      CAPTURE(rank);
      const int a = tree_position(0, rank, world_size);
      const int b = tree_position(1, rank, world_size);
      const bool is_inner[] = {2 * a <= world_size, 2 * b <= world_size};
      CHECK_FALSE((is_inner[0] && is_inner[1]));
      if (!is_inner[0] && !is_inner[1]) ++leaves_twice;
      if (a > 1 && b > 1) CHECK(a % 2 != b % 2);
    }
    CHECK(leaves_twice == world_size % 2);  // the one rank too many of an odd world
  }
}

TEST_CASE("the two trees of 8 ranks, and of 7") {
  const int eight[] = {7, 6, 5, 4, 3, 2, 1, 0};  // by position
  const int seven[] = {5, 4, 3, 2, 1, 6, 0};
  for (int i = 0; i < 8; ++i) {
    CHECK(rank_at(0, i + 1, 8) == i);
    CHECK(rank_at(1, i + 1, 8) == eight[i]);
  }
  for (int i = 0; i < 7; ++i) CHECK(rank_at(1, i + 1, 7) == seven[i]);
}

TEST_CASE("segments: the large ones first, and none beyond the last element") {
  struct Row {
    std::int64_t count;
    int n;
    std::vector<std::int64_t> sizes;
  };
  const Row rows[] = {{6, 4, {2, 2, 2, 0}},  {7, 3, {3, 3, 1}}, {9, 3, {3, 3, 3}},
                      {10, 4, {3, 3, 3, 1}}, {1, 1, {1}},       {2, 5, {1, 1, 0, 0, 0}},
                      {1, 3, {1, 0, 0}},     {0, 2, {0, 0}},    {5, 4, {2, 2, 1, 0}}};
  for (const Row& row : rows) {
    CAPTURE(row.count);
    CAPTURE(row.n);
    Tensor whole = zeros(row.count);
    std::int64_t begin = 0;
    for (int i = 0; i < row.n; ++i) {
      const std::int64_t size = row.sizes[static_cast<std::size_t>(i)];
      CHECK(extent(whole, segment(whole, i, row.n)) == std::vector<std::int64_t>{begin, size});
      begin += size;
    }
    CHECK(begin == row.count);
  }
}

TEST_CASE("segments side by side are one slice, cut off where the elements or the segments end") {
  Tensor whole = zeros(10);  // of 4 segments: 3, 3, 3 and 1
  CHECK(extent(whole, segments(whole, 0, 4, 4)) == std::vector<std::int64_t>{0, 10});
  CHECK(extent(whole, segments(whole, 1, 3, 4)) == std::vector<std::int64_t>{3, 6});
  CHECK(extent(whole, segments(whole, 2, 4, 4)) == std::vector<std::int64_t>{6, 4});
  CHECK(segments(whole, 2, 2, 4).size() == 0);
  CHECK(extent(whole, segments(whole, 3, 9, 4)) == std::vector<std::int64_t>{9, 1});
  CHECK(segments(whole, 5, 9, 4).size() == 0);
}

TEST_CASE("only an average is divided, and once") {
  for (ReduceOp op : kReduceOps) {
    for (int world_size : {1, 2, 4, 5}) {
      const std::string name = name_of(op);
      CAPTURE(name);
      CAPTURE(world_size);
      Tensor tensor = full(3, 20.0f);
      divide_if_average(chunk(tensor, 1, 3), op, world_size);
      const float divided = op == ReduceOp::AVG ? 20.0f / static_cast<float>(world_size) : 20.0f;
      CHECK(to_host(tensor) == std::vector<float>{20.0f, divided, 20.0f});
      Tensor nothing;
      divide_if_average(nothing, op, world_size);
    }
    CHECK(sum_if_average(op) == (op == ReduceOp::AVG ? ReduceOp::SUM : op));
  }
}

TEST_CASE("the best number of segments is √((p-2)nβ/α), rounded, at least 1 and at most n") {
  struct Row {
    int world_size;
    std::int64_t bytes;
    Link link;
    int expected;
  };
  const Row rows[] = {
      {1, 1000, {1, 1}, 1},           // nobody to send to
      {2, 1000, {1, 1}, 1},           // nobody who waits for somebody else to pass it on
      {3, 100, {1, 1}, 10},           // √100
      {6, 100, {1, 1}, 20},           // √400
      {3, 110, {1, 1}, 10},           // √110 = 10.49
      {3, 111, {1, 1}, 11},           // √111 = 10.54
      {3, 100, {4, 1}, 5},            // a dearer α: fewer
      {3, 100, {1, 4}, 20},           // dearer bytes: more
      {3, 100, {1000, 1}, 1},         // less than one
      {3, 100, {1, 0}, 1},            // bytes that cost nothing
      {8, 0, {1, 1}, 1},              // no bytes
      {3, 100, {0, 1}, 100},          // α = 0: as many as there are bytes
      {3, 1 << 30, {0, 1}, 1 << 20},  // but no more than are of any use
      {3, 0, {0, 1}, 1},              // 0 / 0
      {2, 100, {0, 1}, 1},
      {3, 100, {0, 0}, 1},
  };
  for (const Row& row : rows) {
    CAPTURE(row.world_size);
    CAPTURE(row.bytes);
    CAPTURE(row.link.alpha);
    CAPTURE(row.link.beta);
    CHECK(cost::best_segments(row.world_size, row.bytes, row.link) == row.expected);
  }
}

TEST_CASE("no other number of segments makes the pipeline faster than the best one by much") {
  const Link link{1e-6, 1e-9};
  for (int world_size : {3, 4, 8, 17}) {
    for (std::int64_t elements : {100, 10'000, 1'000'000}) {
      const auto seconds = [&](int segments) {
        const Cost cost = cost::broadcast_ring_pipelined(world_size, elements, 4, segments);
        return cost.steps * link.alpha + cost.bytes * link.beta;
      };
      const double best = seconds(cost::best_segments(world_size, elements * 4, link));
      CAPTURE(world_size);
      CAPTURE(elements);
      // The formula ignores that segments are whole elements, and are so many as a whole number.
      for (int segments = 1; segments <= 2000; ++segments) CHECK(best <= 1.02 * seconds(segments));
    }
  }
}

TEST_CASE(
    "the best number of segments of a double tree: more bytes or levels, or a smaller α, more") {
  struct Row {
    int world_size;
    std::int64_t bytes;
    Link link;
    int expected;
  };
  const Row rows[] = {
      {1, 1 << 22, {1, 1}, 1},    {2, 1 << 22, {1, 1}, 1},  // no rank passes anything on
      {8, 0, {1, 1}, 1},                                    // no bytes
      {8, 4, {1, 1}, 1},                                    // latency is all
      {7, 10'000, {1, 1}, 64},     // √(6/8 · 10'000) = 87; √7500/64 < √2
      {63, 10'000, {1, 1}, 128},   // √(24/8 · 10'000) = 173
      {63, 10'000, {100, 1}, 16},  // √(24/8 · 100) = 17
      {8, 1 << 30, {0, 1}, 1024},  // α = 0: no end
  };
  for (const Row& row : rows) {
    CAPTURE(row.world_size);
    CAPTURE(row.bytes);
    CAPTURE(row.link.alpha);
    CHECK(cost::best_tree_segments(row.world_size, row.bytes, row.link, 0) == row.expected);
  }
}

}  // namespace
}  // namespace rankbox
