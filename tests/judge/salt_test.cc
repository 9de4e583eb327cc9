// The salt: other inputs and cases, the same ones for the same number, and still exact.
#include "judge/salt.h"

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "judge/case_lists.h"
#include "judge/inputs.h"

namespace rankbox {

namespace {

constexpr std::uint64_t kSalts[] = {0, 1, 77, 4294967295};
constexpr int kMostRanks = 24;

/// Sets a salt until the end of the scope.
struct Salted {
  explicit Salted(std::uint64_t salt) { set_salt(salt); }
  ~Salted() { set_salt(0); }
  Salted(const Salted&) = delete;
  Salted& operator=(const Salted&) = delete;
};

std::vector<std::string> lists() {
  std::vector<std::string> all;
  for (const Case& example : cases_by_root_and_op()) all.push_back(to_string(example));
  return all;
}

}  // namespace

TEST_CASE("cases depend on the salt alone, and the fixed ones have 1 to 17 ranks") {
  std::set<std::vector<std::string>> seen;
  for (const std::uint64_t number : kSalts) {
    CAPTURE(number);
    const Salted salted(number);
    CHECK(lists() == lists());
    CHECK(seen.insert(lists()).second);
    const int largest = world_sizes().back();
    CHECK((number == 0 ? largest == 17 : largest >= 18 && largest <= kMostRanks));
  }
}

TEST_CASE("the numbers of a salt are the same on every machine") {
  const Salted salted(77);
  CHECK(drawn("root", 1, 0, 1'000'000) == 564240);
  CHECK(element(3, 5) == 16219787.0F);
  CHECK(share(ReduceOp::SUM, 3, 5, 8) == 435898.0F);
}

TEST_CASE("without a salt a draw is the fixed number, and otherwise within its bounds") {
  CHECK(drawn("anything", 42, 0, 1) == 42);
  const Salted salted(77);
  std::set<std::int64_t> seen;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t number = drawn(std::to_string(i), 42, -3, 3);
    CHECK(number >= -3);
    CHECK(number <= 3);
    seen.insert(number);
  }
  CHECK(seen.size() == 7);
}

TEST_CASE("elements differ by rank and index, and say where they come from") {
  for (const std::uint64_t number : kSalts) {
    CAPTURE(number);
    const Salted salted(number);
    std::set<float> seen;
    for (int rank = 0; rank < kMostRanks; ++rank) {
      for (const std::int64_t i : {0, 1, 96, 4999, 9999}) {
        const float value = element(rank, i);
        CHECK(seen.insert(value).second);
        CHECK(origin_of_element(value, kMostRanks)
                  .text.ends_with("element " + std::to_string(i) + " of rank " +
                                  std::to_string(rank)));
      }
    }
    CHECK(origin_of_element(0.5F, kMostRanks).id.empty());
  }
}

TEST_CASE("reductions of up to 80 ranks are exact, in any order") {
  for (const std::uint64_t number : kSalts) {
    const Salted salted(number);
    for (const int p : {1, 2, 17, 20, 21, kMostRanks, kMostRanksOfShares}) {
      for (std::int64_t i = 0; i < 20; ++i) {
        CAPTURE(number);
        CAPTURE(p);
        CAPTURE(i);
        float up = 0, down = 0, product = 1;
        for (int rank = 0; rank < p; ++rank) {
          up += share(ReduceOp::SUM, rank, i, p);
          down += share(ReduceOp::SUM, p - 1 - rank, i, p);
          product *= share(ReduceOp::PRODUCT, rank, i, p);
        }
        CHECK(up == reduced(ReduceOp::SUM, i, p));
        CHECK(down == up);
        CHECK(product == reduced(ReduceOp::PRODUCT, i, p));
        CHECK(std::isfinite(product));
      }
    }
  }
}

TEST_CASE("random salts are numbers of 53 bits, and not 0") {
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t number = random_salt();
    CHECK(number >= 1);
    CHECK(number <= static_cast<std::uint64_t>(kLargestSalt));
  }
}

}  // namespace rankbox
