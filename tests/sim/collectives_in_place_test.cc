// Native collectives whose small slice is its own part of the large one.
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tests/sim/collective_inputs.h"
#include "tests/sim/on_executor.h"

namespace rankbox::testing {
namespace {

/// Returns the errors that a rank found in collectives whose small slice is part of the large one.
std::string wrong_in_place(Comm& dist, std::int64_t count) {
  const int p = dist.world_size();
  const int rank = dist.rank();
  const std::vector<float> mine = inputs<float>(ReduceOp::SUM, rank, count);
  const std::vector<float> everybodys = concatenated<float>(p, count);
  std::string wrong;

  for (int root = 0; root < p; ++root) {
    // All ranks have a full output: on ranks other than the root it must not change.
    Tensor gathered = full(count * p, -99.0f);
    copy(chunk(gathered, rank, p), from_host(mine));
    const std::vector<float> before = to_host(gathered);
    dist.gather(chunk(gathered, rank, p), gathered, root);
    if (to_host(gathered) != (rank == root ? everybodys : before)) {
      wrong += "gather root " + std::to_string(root) + "; ";
    }

    Tensor whole = rank == root ? from_host(everybodys) : full(count * p, -99.0f);
    const Slice piece = chunk(whole, rank, p);
    dist.scatter(whole, piece, root);
    Tensor received = zeros(count);
    copy(received, piece);
    if (to_host(received) != mine || (rank == root && to_host(whole) != everybodys)) {
      wrong += "scatter root " + std::to_string(root) + "; ";
    }
  }

  Tensor all = full(count * p, -99.0f);
  copy(chunk(all, rank, p), from_host(mine));
  dist.all_gather(chunk(all, rank, p), all);
  if (to_host(all) != everybodys) wrong += "all_gather; ";

  // Chunks of unequal sizes, where p does not divide the count.
  Tensor sum = from_host(mine);
  dist.reduce_scatter(sum, chunk(sum, rank, p));
  std::vector<float> expected = mine;
  for (std::int64_t i = rank * count / p; i < (rank + 1) * count / p; ++i) {
    expected[static_cast<std::size_t>(i)] = reduced<float>(ReduceOp::SUM, p, i);
  }
  if (to_host(sum) != expected) wrong += "reduce_scatter; ";
  return wrong;
}

TEST_CASE("gather, all_gather, scatter and reduce_scatter may work in place, from every root") {
  for (int p : {1, 2, 3, 4, 5, 8}) {
    for (std::int64_t count : {0, 1, 5, 12, 13, 1000}) {
      const auto run =
          run_ranks({.world_size = p}, [&](Comm& dist) { return wrong_in_place(dist, count); });
      CAPTURE(p);
      CAPTURE(count);
      for (const std::string& wrong : run.results) CHECK(wrong == "");
    }
  }
}

}  // namespace
}  // namespace rankbox::testing
