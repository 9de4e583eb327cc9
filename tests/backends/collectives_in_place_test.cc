// Native collectives whose small slice is its own part of the large one.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/values.h"
#include "tests/backends/worlds.h"

namespace rankbox::testing {
namespace {

/// Returns a rank's mistakes; empty if there are none.
template <class T>
std::string wrong_in_place(Comm& dist, std::int64_t count) {
  const int p = dist.world_size();
  const int rank = dist.rank();
  const std::vector<T> mine = inputs<T>(ReduceOp::SUM, rank, count);
  const std::vector<T> everybodys = concatenated<T>(p, count);
  const T untouched = static_cast<T>(-99);
  std::string wrong;
  const auto expect = [&](bool right, const std::string& what) {
    if (!right) wrong += what + "; ";
  };

  for (int root = 0; root < p; ++root) {
    const std::string from = " root " + std::to_string(root);
    // All ranks have room for the result; except on the root, it stays unchanged.
    TensorOf<T> gathered = full<T>(count * p, untouched);
    copy(chunk(gathered, rank, p), from_host(mine));
    const std::vector<T> before = to_host(gathered);
    dist.gather(chunk(gathered, rank, p), gathered, root);
    expect(same(to_host(gathered), rank == root ? everybodys : before), "gather" + from);

    TensorOf<T> whole = rank == root ? from_host(everybodys) : full<T>(count * p, untouched);
    const Slice piece = chunk(whole, rank, p);
    dist.scatter(whole, piece, root);
    expect(same(host_copy<T>(piece), mine), "scatter" + from);
    expect(rank != root || same(to_host(whole), everybodys), "whole of scatter" + from);
  }

  TensorOf<T> all = full<T>(count * p, untouched);
  copy(chunk(all, rank, p), from_host(mine));
  dist.all_gather(chunk(all, rank, p), all);
  expect(same(to_host(all), everybodys), "all_gather");

  // Chunks of unequal sizes, if p does not divide the count.
  TensorOf<T> sum = from_host(mine);
  dist.reduce_scatter(sum, chunk(sum, rank, p));
  std::vector<T> expected = mine;
  const std::int64_t begin = rank * count / p;
  const std::int64_t end = (rank + 1) * count / p;
  const std::vector<T> reduced = reductions<T>(ReduceOp::SUM, p, begin, end);
  for (std::int64_t i = begin; i < end; ++i)
    expected[static_cast<std::size_t>(i)] = reduced[static_cast<std::size_t>(i - begin)];
  expect(same(to_host(sum), expected), "reduce_scatter");
  return wrong;
}

/// The same for several counts.
template <class T>
std::string wrong_in_place(Comm& dist) {
  std::string all;
  for (const std::int64_t count : {0, 1, 12, 13, 1000, 9'001}) {
    const std::string wrong = wrong_in_place<T>(dist, count);
    if (wrong.empty()) continue;
    all += std::to_string(count) + " " + name_of(TensorOf<T>::dtype()) + ": " + wrong;
  }
  return all;
}

TEST_CASE("gather, all_gather, scatter and reduce_scatter work in place, from every root") {
  for (int p : world_sizes()) {
    for (const bool blocking : {false, true}) {
      if (blocking && !kMayBlock) continue;
      RunOptions options = world(p);
      options.blocking_calls = blocking;
      const auto run = run_ranks(options, [&](Comm& dist) {
        return wrong_in_place<float>(dist) + wrong_in_place<std::int64_t>(dist) +
               wrong_in_place<Float16>(dist) + wrong_in_place<BFloat16>(dist);
      });
      CAPTURE(p);
      CAPTURE(blocking);
      for (const std::string& wrong : run.results) CHECK(wrong == "");
    }
  }
}

}  // namespace
}  // namespace rankbox::testing
