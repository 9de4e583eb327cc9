// What failing cases have in common, by programs that fail in known cases.
#include "judge/pattern.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "judge/families.h"
#include "judge/judge.h"
#include "tests/support/text.h"

namespace rankbox {
namespace {

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const int p : {1, 2, 3, 4, 5, 6, 8}) {
    for (const int root : {0, p - 1}) {
      for (const int count : {0, 1, 7, 24, 120}) {
        for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::MAX, ReduceOp::AVG})
          cases.push_back({.world_size = p, .root = root, .count = count, .op = op});
      }
    }
  }
  return cases;
}

/// Returns the pattern of a program that fails where there are elements and `fails` says so.
std::string pattern_where(bool (*fails)(const Case& example)) {
  std::vector<CaseOutcome> outcomes;
  for (const Case& example : all_cases())
    outcomes.push_back({example, example.count != 0 && fails(example)});
  return pattern_of(outcomes);
}

TEST_CASE("the failing cases have one property in common, or none is named") {
  const auto says = [](const char* words, bool (*fails)(const Case& example)) {
    CAPTURE(words);
    CHECK(testing::contains(pattern_where(fails), words));
  };
  says("SUM only", [](const Case& c) { return c.world_size > 1 && c.op != ReduceOp::SUM; });
  says("AVG only", [](const Case& c) { return c.world_size > 1 && c.op == ReduceOp::AVG; });
  says("root 0 only", [](const Case& c) { return c.root != 0; });
  says("power of two", [](const Case& c) { return c.world_size % 3 == 0 || c.world_size == 5; });
  says("1 and 2 ranks", [](const Case& c) { return c.world_size > 2; });
  says("even number", [](const Case& c) { return c.world_size == 3 || c.world_size == 5; });
  says("on one rank", [](const Case& c) { return c.world_size == 1; });
  says("divides", [](const Case& c) { return *c.count % c.world_size != 0; });
  says("fewer elements", [](const Case& c) { return *c.count < c.world_size; });

  CHECK(pattern_where([](const Case&) { return true; }) == "");
  CHECK(pattern_where([](const Case&) { return false; }) == "");
  CHECK(pattern_where([](const Case& c) { return c.world_size == 4 && c.root == 0; }) == "");
}

TEST_CASE("few cases are enough, of every world size") {
  const std::vector<Case> some = telling_cases(all_cases());
  CHECK(some.size() <= 48);
  for (const int p : {1, 2, 3, 4, 5, 6, 8}) {
    CHECK(std::ranges::any_of(some, [&](const Case& each) { return each.world_size == p; }));
  }
}

/// Every rank receives first, also the only one.
void receives_first(Comm& dist, Tensor& tensor, int /*src*/) {
  const int p = dist.world_size();
  dist.recv(tensor, (dist.rank() + p - 1) % p);
  dist.send(tensor, (dist.rank() + 1) % p);
}

TEST_CASE("where a rank alone fails as several do, several are shown") {
  const Verdict verdict =
      judge("broadcast_ring", subject_in("broadcast", receives_first, "broadcast_ring"));
  REQUIRE(verdict.failure.has_value());
  CHECK(verdict.failure->kind == FailureKind::kDeadlock);
  CHECK(testing::contains(verdict.failure->replay, "world_size=2,"));
  CHECK(verdict.others.empty());
}

}  // namespace
}  // namespace rankbox
