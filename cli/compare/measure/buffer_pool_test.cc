// Buffers take turns, and inputs that reductions overwrite are restored.
#include "cli/compare/measure/buffer_pool.h"

#include <set>

#include <doctest/doctest.h>

#include "cli/compare/plan/algorithms.h"
#include "comm/run_ranks.h"
#include "tests/support/run_tests.h"

namespace rankbox::cli {
namespace {

using enum CollectiveKind;

/// Without a rank; false where there is no device for tensors.
bool has_tensors() {
  if (!why_no_ranks().empty()) testing::pass_over(why_no_ranks());
  return why_no_ranks().empty();
}

TEST_CASE("there are as many buffers as have the bytes, from 1 to 64, and each has its turn") {
  if (!has_tensors()) return;
  const struct {
    CollectiveKind collective;
    std::int64_t elements;
    std::int64_t bytes;
    std::size_t count;
  } table[] = {{kAllReduce, 1000, 4000, 1},  {kAllReduce, 1000, 3000, 1},
               {kAllReduce, 1000, 11999, 2}, {kAllGather, 8, 320, 10},
               {kAllReduce, 1, 1 << 20, 64}, {kBarrier, 0, 1 << 20, 1}};
  for (const auto& row : table) {
    CAPTURE(row.bytes);
    BufferPool pool({row.collective, 0, 2, row.elements}, row.bytes);
    CHECK(pool.size() == row.count);
    std::set<const Buffers*> seen;
    for (std::size_t i = 0; i < row.count; ++i) seen.insert(&pool.next());
    CHECK(seen.size() == row.count);
    CHECK(seen.contains(&pool.next()));
  }
}

TEST_CASE("all inputs hold the numbers of fill_input(), again after each restore()") {
  if (!has_tensors()) return;
  for (const CollectiveKind collective : {kAllReduce, kReduce, kReduceScatter}) {
    const RankPart part = {collective, 1, 2, 100};
    Buffers expected = make_buffers(part);
    fill_input(expected, part);
    const std::vector<float> numbers = to_host(expected.input);
    for (const int uses : {0, 1, 3, 4, 9}) {
      CAPTURE(uses);
      BufferPool pool(part, 4 * 400);
      REQUIRE(pool.size() == 4);
      for (int i = 0; i < uses; ++i) pool.next().input *= 2.0f;
      pool.restore();
      for (int i = 0; i < 4; ++i) CHECK(to_host(pool.next().input) == numbers);
    }
  }
}

TEST_CASE("inputs that no collective changes are left alone") {
  if (!has_tensors()) return;
  BufferPool pool({kAllGather, 0, 2, 100}, 1);
  Buffers& buffers = pool.next();
  buffers.input *= 0.0f;
  pool.restore();
  CHECK(to_host(buffers.input) == std::vector<float>(50, 0.0f));
}

}  // namespace
}  // namespace rankbox::cli
