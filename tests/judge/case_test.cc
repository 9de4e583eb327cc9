#include "judge/case.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <doctest/doctest.h>

#include "comm/errors.h"
#include "judge/case_lists.h"
#include "judge/compare.h"
#include "judge/families.h"
#include "judge/inputs.h"
#include "judge/origin_of_reduction.h"
#include "judge/salt.h"
#include "tests/support/text.h"

namespace rankbox {

namespace {

std::vector<Case> cases_of(std::string_view family) {
  return find_family(family)->subject(nullptr, "").cases();
}

}  // namespace

TEST_CASE("a case survives the way through its text") {
  for (const char* family : {"segmented_broadcast", "hierarchical_allreduce", "segmented_allreduce",
                             "reduce", "barrier", "race"}) {
    const std::vector<Case> cases = cases_of(family);
    for (const Case& example : cases) {
      CHECK(parse_case(to_string(example), cases.front()) == example);
    }
  }
}

TEST_CASE("fields that are left out keep their defaults") {
  const Case example = parse_case("count=5", cases_of("reduce").front());
  CHECK(to_string(example) == "world_size=1,root=0,count=5,op=SUM");
}

TEST_CASE("how large buckets may be is written as bucket, and never 0") {
  Case defaults;
  defaults.bucket_bytes = 1;
  const Case example = parse_case("world_size=2,bucket=288", defaults);
  CHECK(example.bucket_bytes == 288);
  CHECK(to_string(example) == "world_size=2,bucket=288");
  CHECK_THROWS_AS(parse_case("bucket=0", defaults), InvalidArgument);
}

TEST_CASE(
    "replicas divide the ranks, and chunks go with micro-batches that are a multiple of them") {
  Case grid;
  grid.replicas = 1;
  CHECK(to_string(parse_case("world_size=6,replicas=3", grid)) == "world_size=6,replicas=3");
  CHECK_THROWS_AS(parse_case("world_size=6,replicas=4", grid), InvalidArgument);
  CHECK_THROWS_AS(parse_case("chunks=2", grid), InvalidArgument);
  Case ring;
  ring.segments = 1;
  ring.chunks = 1;
  CHECK(to_string(parse_case("world_size=3,segments=6,chunks=2", ring)) ==
        "world_size=3,segments=6,chunks=2");
  CHECK_THROWS_AS(parse_case("world_size=3,segments=4", ring), InvalidArgument);
  CHECK_THROWS_AS(parse_case("replicas=1", ring), InvalidArgument);
}

TEST_CASE("the first dimension of a mesh divides the ranks") {
  Case layouts;
  layouts.mesh = layouts.to_mesh = 1;
  layouts.from = layouts.to = 0;
  CHECK(to_string(parse_case("world_size=6,mesh=3,to=8", layouts)) ==
        "world_size=6,mesh=3,from=0,to_mesh=1,to=8");
  for (const char* text : {"world_size=6,mesh=4", "world_size=6,to_mesh=4", "from=9"})
    CHECK_THROWS_AS(parse_case(text, layouts), InvalidArgument);
}

TEST_CASE("each case of an exercise can be replayed, larger ones than others may be, too") {
  for (const char* family : {"clip_global_norm", "reduce", "ddp_no_sync", "reshard"}) {
    const std::vector<Case> cases = cases_of(family);
    for (const Case& example : cases) CHECK(replayed_case(to_string(example), cases) == example);
  }
  CHECK_THROWS_AS(replayed_case("count=10000", cases_of("reduce")), InvalidArgument);
}

TEST_CASE("what is no case is refused with the field's name") {
  const Case defaults = cases_of("reduce").front();
  for (const char* text :
       {"world_size=0", "world_size=25", "world_size=x", "world_size=3x", "world_size=", "count=-1",
        "count=10000", "count=9999999999999999999999", "root=1", "op=sum", "segments=2", "nodes=1",
        "threads=2", "nonsense=1", "world_size", ",", "world_size=2,,count=1"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_case(text, defaults), InvalidArgument);
  }
}

TEST_CASE("the lists of cases reach every world size, root, count and operation") {
  std::set<int> world_sizes;
  std::set<std::pair<int, int>> roots;
  std::set<std::pair<int, ReduceOp>> ops;
  std::set<std::int64_t> counts;
  for (const Case& example : cases_by_root_and_op()) {
    world_sizes.insert(example.world_size);
    roots.insert({example.world_size, *example.root});
    ops.insert({example.world_size, *example.op});
    counts.insert(*example.count);
  }
  CHECK(world_sizes.size() == 17);
  CHECK(*world_sizes.begin() == 1);
  CHECK(roots.size() == 17 * 18 / 2);
  CHECK(ops.size() == 17 * 5);
  for (std::int64_t count : {0, 1, 2, 97, 4096}) CHECK(counts.contains(count));
}

TEST_CASE("cases come in order of their world sizes, so that the first failure is a small one") {
  for (const std::vector<Case>& cases :
       {cases_by_count(), cases_by_root(), cases_by_op(), cases_by_root_and_op()}) {
    CHECK(std::is_sorted(cases.begin(), cases.end(),
                         [](const Case& a, const Case& b) { return a.world_size < b.world_size; }));
  }
}

TEST_CASE("a share that is missing or comes twice changes every sum, average and product") {
  for (ReduceOp op : {ReduceOp::SUM, ReduceOp::AVG, ReduceOp::PRODUCT}) {
    for (int world_size : {2, 3, 8, 17}) {
      for (std::int64_t i : {0, 1, 6, 96}) {
        for (int rank = 0; rank < world_size; ++rank) {
          const float share_of_rank = share(op, rank, i, world_size);
          CAPTURE(name_of(op));
          CAPTURE(world_size);
          CAPTURE(rank);
          CHECK(share_of_rank != (op == ReduceOp::PRODUCT ? 1.0f : 0.0f));
        }
      }
    }
  }
}

TEST_CASE("at every index another rank has the maximum, and a zero spoils it") {
  const int world_size = 5;
  for (ReduceOp op : {ReduceOp::MAX, ReduceOp::MIN}) {
    std::set<int> winners;
    for (std::int64_t i = 0; i < world_size; ++i) {
      const float best = reduced(op, i, world_size);
      CHECK((op == ReduceOp::MAX ? best < 0 : best > 0));
      for (int rank = 0; rank < world_size; ++rank) {
        if (share(op, rank, i, world_size) == best) winners.insert(rank);
      }
    }
    CHECK(winners.size() == world_size);
  }
}

TEST_CASE("reductions of the shares are exact: whole numbers that a float holds") {
  for (int world_size = 1; world_size <= 20; ++world_size) {
    for (std::int64_t i = 0; i < 7; ++i) {
      CHECK(reduced(ReduceOp::SUM, i, world_size) ==
            static_cast<float>(((1 << world_size) - 1) * (i + 1)));
    }
  }
}

TEST_CASE("a far case may be replayed with the numbers that a salt draws") {
  const std::vector<Case> cases = {{.world_size = 1, .root = 0, .count = 0},
                                   {.world_size = 70, .nodes = 6, .root = 35, .count = 97},
                                   {.world_size = 2, .root = 1, .count = 100'003}};
  for (const char* text : {"world_size=73,nodes=6,root=36,count=118",
                           "world_size=2,root=1,count=81000", "world_size=3,root=1,count=7"})
    CHECK(to_string(replayed_case(text, cases)) == text);
  for (const char* text : {"world_size=90,nodes=6,root=1,count=7",
                           "world_size=2,root=5,count=80000", "world_size=25", "count=10000"})
    CHECK_THROWS_AS(replayed_case(text, cases), InvalidArgument);
}

TEST_CASE("the largest case that may be replayed has inputs that tell every element apart") {
  const Case largest = parse_case("world_size=24,count=9999", cases_by_count().front());
  const int last = largest.world_size - 1;
  CHECK(element(last, *largest.count - 1) < element(last, *largest.count));
  CHECK(element(last - 1, *largest.count - 1) < element(last, 0));
}

TEST_CASE("a value that no rank could have comes from nowhere") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (float value : {infinity, -infinity, 1e30f, -1e30f, 9.3e18f, 0.0f, -1.0f, 1.5f, 50001.0f}) {
    CAPTURE(value);
    CHECK(origin_of_element(value, 5).id.empty());
  }
  CHECK(origin_of_element(std::nanf(""), 5).id == "never-written");
}

TEST_CASE("the message of a wrong value says where it came from") {
  CHECK(testing::lacks(origin_of_element(element(3, 4), 5).text, {"element 4", "rank 3"}) == "");
  CHECK(origin_of_element(element(7, 4), 5).id.empty());
  // The mean of two ranks' elements 0 is an element, too: the 5000th of rank 0.
  const auto mean = [](std::int64_t i) { return (element(0, i) + element(1, i)) / 2; };
  for (const std::int64_t i : {0, 3})
    CHECK(origin_of_moved(mean(i), i, 2).id == "mean-of-elements");
  CHECK(origin_of_moved(element(0, 2) + element(1, 2), 2, 2).id == "sum-of-elements");
  CHECK(testing::lacks(origin_of_moved(element(1, 4), 0, 3).text, {"element 4", "rank 1"}) == "");
  CHECK(testing::lacks(origin_of_moved(element(1, 4), 4, 3).text, {"element 4", "rank 1"}) == "");
}

TEST_CASE("a wrong reduction names the ranks whose shares it lacks") {
  struct Row {
    int world_size;
    ReduceOp op;
    std::vector<int> added;  // their shares' sum, or largest, is what was got
    float divisor;
    const char* hint;
    std::vector<std::string> words;
  };
  using enum ReduceOp;
  const std::vector<Row> rows = {
      {4, SUM, {0, 2, 3}, 1, "share-missing", {"rank 1"}},
      {4, SUM, {0, 1, 1, 2, 3}, 1, "share-twice", {"rank 1"}},
      {2, SUM, {1}, 1, "share-of-one-rank", {"rank 1 alone", "rank 0"}},
      {5, SUM, {3}, 1, "share-of-one-rank", {"rank 3 alone", "ranks 0 to 2 and 4"}},
      {5, SUM, {1, 3}, 1, "shares-missing", {"ranks 0, 2 and 4"}},
      {8, SUM, {6, 7, 0, 1}, 1, "shares-missing", {"ranks 2 to 5"}},
      {24, SUM, {22, 23, 0, 1}, 1, "shares-missing", {"ranks 2 to 21"}},
      {4, AVG, {0, 1, 2, 3}, 1, "avg-not-divided", {"world_size"}},
      {4, AVG, {0, 1, 2, 3}, 16, "avg-divided-twice", {"world_size"}},
      {5, AVG, {0, 1, 2}, 5, "shares-missing", {"ranks 3 and 4"}},
      {5, AVG, {0, 1, 4}, 1, "shares-missing", {"ranks 2 and 3"}},
      {3, AVG, {2}, 1, "share-of-one-rank", {"rank 2 alone", "ranks 0 and 1"}},
  };
  for (const std::uint64_t number : {0, 7}) {
    set_salt(number);
    for (const Row& row : rows) {
      CAPTURE(row.world_size);
      CAPTURE(row.added.size());
      CAPTURE(number);
      const std::vector<float> shares = shares_at(row.op, 2, row.world_size);
      double got = 0;
      for (const int rank : row.added) got += shares[static_cast<std::size_t>(rank)];
      const Hint hint = origin_of_reduction(row.op, static_cast<float>(got / row.divisor), shares);
      CHECK(hint.id == row.hint);
      CHECK(testing::lacks(hint.text, row.words) == "");
    }
  }
  set_salt(0);
}

TEST_CASE("what no shares explain has no origin") {
  using enum ReduceOp;
  const std::vector<float> shares = {-4, -2, -7};
  CHECK(testing::lacks(origin_of_reduction(MAX, -4, shares).text, {"without", "rank 1"}) == "");
  CHECK(testing::lacks(origin_of_reduction(MIN, -4, shares).text, {"without", "rank 2"}) == "");
  CHECK(origin_of_reduction(MIN, -2, shares).id == "opposite-extremum");
  CHECK(origin_of_reduction(MAX, -7, shares).id == "opposite-extremum");
  // 8 is the share of rank 2, and the product of the others.
  CHECK(origin_of_reduction(PRODUCT, 8, {2, 4, 8}).id.empty());
  CHECK(testing::lacks(origin_of_reduction(PRODUCT, 10, {2, 3, 5}).text, {"without", "rank 1"}) ==
        "");
  CHECK(origin_of_reduction(MAX, 0, shares).id.empty());
  CHECK(origin_of_reduction(SUM, 3.5F, {1, 2, 4}).id.empty());
  CHECK(origin_of_reduction(SUM, 0, {1, 2, 4}).id.empty());
  CHECK(origin_of_reduction(SUM, std::numeric_limits<float>::infinity(), {1, 2, 4}).id.empty());
  // Rank 1 alone, undivided, or rank 2 alone, divided by 4: neither is named.
  const Hint alone = origin_of_reduction(AVG, 2, {1, 2, 8, 16});
  CHECK(alone.id == "share-of-one-rank");
  CHECK_FALSE(testing::contains(alone.text, "rank 1 "));
  // Ranks 0 and 1, undivided, or rank 2 and 1, divided by 4.
  CHECK(origin_of_reduction(AVG, 3, {1, 2, 10, 16}).id.empty());
  CHECK(origin_of_reduction(SUM, 5, {5}).id.empty());
  // A share of 0 is in every sum.
  CHECK(testing::lacks(origin_of_reduction(SUM, 3, {0, 1, 2, 4}).text, {"rank 3"}) == "");
}

}  // namespace rankbox
