// Random numbers that do not depend on the machine, the order or the number of ranks.
#include "training/random.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace rankbox {
namespace {

TEST_CASE("the numbers of a seed are these, everywhere and for ever: checkpoints depend on it") {
  // Computed apart from this code, by the published SplitMix64, whose state is mix(42) at first.
  Random random(42);
  CHECK(random.next() == 0x989b3f130a063869);
  CHECK(random.next() == 0x290db4bf2570ded7);
  CHECK(Random(42).at(1) == 0x290db4bf2570ded7);
  CHECK(Random(42).at(1000000) == 0xfabed23ce0f4c425);
}

TEST_CASE("numbers can be had in any order, and drawing does not disturb other streams") {
  Random random(7);
  const Random untouched(7);
  for (std::uint64_t n = 0; n < 100; ++n) CHECK(random.next() == untouched.at(n));
  CHECK(random.stream(3).at(0) == untouched.stream(3).at(0));
  CHECK(random.stream("fc1").at(0) == untouched.stream("fc1").at(0));
}

TEST_CASE("streams, seeds and names differ") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    seen.insert(Random(i).at(0));
    seen.insert(Random(1).stream(i).at(0));
    seen.insert(Random(1).stream("fc" + std::to_string(i)).at(0));
    seen.insert(Random(1).stream(i).stream(i).at(0));
  }
  CHECK(seen.size() == 4000);
}

TEST_CASE("uniform, normal and below have the mean, the variance and the range they should") {
  constexpr int kDraws = 200000;
  Random random(1);
  double sum = 0, squares = 0, normal_sum = 0, normal_squares = 0;
  std::vector<int> hits(7);
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    REQUIRE(u >= 0);
    REQUIRE(u < 1);
    sum += u, squares += u * u;
    const double z = random.normal();
    normal_sum += z, normal_squares += z * z;
    const std::int64_t below = random.below(7);
    REQUIRE(below >= 0);
    REQUIRE(below < 7);
    ++hits[static_cast<std::size_t>(below)];
  }
  CHECK(sum / kDraws == doctest::Approx(.5).epsilon(.01));
  CHECK(squares / kDraws == doctest::Approx(1. / 3).epsilon(.01));
  CHECK(std::abs(normal_sum / kDraws) < .01);
  CHECK(normal_squares / kDraws == doctest::Approx(1).epsilon(.02));
  for (const int count : hits) CHECK(count == doctest::Approx(kDraws / 7.).epsilon(.03));
}

TEST_CASE("a permutation holds every number once, and all orders are equally likely") {
  for (const std::int64_t n : {0, 1, 2, 17, 1000}) {
    std::vector<std::int64_t> order = permutation(n, Random(3));
    CHECK(order == permutation(n, Random(3)));
    if (n >= 17) CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
    std::sort(order.begin(), order.end());
    for (std::int64_t i = 0; i < n; ++i) CHECK(order[static_cast<std::size_t>(i)] == i);
  }
  std::map<std::vector<std::int64_t>, int> counts;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) ++counts[permutation(3, Random(seed))];
  CHECK(counts.size() == 6);
  for (const auto& [order, count] : counts) CHECK(count == doctest::Approx(1000).epsilon(.1));
}

}  // namespace
}  // namespace rankbox
