#include "judge/origin_of_reduction.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "comm/ranks_in_words.h"
#include "judge/inputs.h"

namespace rankbox {

namespace {

using Shares = std::vector<float>;
using Ranks = std::vector<int>;

constexpr std::size_t kMostEnumerated = 8;  // ranks: of more, too many sums are alike by chance

bool is_near(double a, double b, double relative) {
  return std::abs(a - b) <= relative * std::abs(b);
}

/// Returns the ranks for which `is_added` is false and whose share is not 0.
template <class IsAdded>
Ranks others(const Shares& shares, IsAdded is_added) {
  Ranks ranks;
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    if (shares[rank] != 0 && !is_added(rank)) ranks.push_back(static_cast<int>(rank));
  }
  return ranks;
}

/// Takes the largest share that still fits, and so on: right for powers of two.
std::optional<Ranks> lacking_by_size(double sum, const Shares& shares) {
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, std::greater(), [&](std::size_t rank) { return shares[rank]; });
  std::vector<bool> is_added(shares.size());
  for (const std::size_t rank : order) {
    is_added[rank] = shares[rank] <= sum;
    if (is_added[rank]) sum -= shares[rank];
  }
  if (sum != 0) return std::nullopt;
  return others(shares, [&](std::size_t rank) { return is_added[rank]; });
}

std::optional<Ranks> lacking_in_any_set(double sum, const Shares& shares, double relative) {
  if (shares.size() > kMostEnumerated) return std::nullopt;
  for (std::size_t set = 1; set < std::size_t{1} << shares.size(); ++set) {
    const auto is_added = [&](std::size_t rank) { return (set >> rank & 1) != 0; };
    double of_set = 0;
    for (std::size_t rank = 0; rank < shares.size(); ++rank)
      of_set += is_added(rank) ? shares[rank] : 0;
    if (is_near(sum, of_set, relative)) return others(shares, is_added);
  }
  return std::nullopt;
}

/// Neighbours on a ring, as those whose shares a partial sum of a ring has.
std::optional<Ranks> lacking_in_any_run(double sum, const Shares& shares, double relative) {
  const std::size_t p = shares.size();
  constexpr std::size_t kMostRounded = 16;  // of more, a rounded sum is near another by chance
  if (relative > 0 && p > kMostRounded) return std::nullopt;
  for (std::size_t first = 0; first < p; ++first) {
    double of_run = 0;
    for (std::size_t length = 1; length <= p; ++length) {
      of_run += shares[(first + length - 1) % p];
      if (!is_near(sum, of_run, relative)) continue;
      return others(shares, [=](std::size_t rank) { return (rank + p - first) % p < length; });
    }
  }
  return std::nullopt;
}

/// Returns the ranks whose shares are not in a sum of some, if such a sum is known.
/// REQUIRES: no share is negative.
std::optional<Ranks> lacking_in_sum(double sum, const Shares& shares, double relative) {
  if (!(sum > 0)) return std::nullopt;
  if (auto found = lacking_by_size(sum, shares)) return found;
  if (auto found = lacking_in_any_set(sum, shares, relative)) return found;
  return lacking_in_any_run(sum, shares, relative);
}

/// @param missing ranks whose shares the value lacks
/// @param how a share gets into the result
Hint lacks(const Ranks& missing, const Shares& shares, const char* how = "added") {
  const Ranks all = others(shares, [](std::size_t) { return false; });
  if (missing.empty() || missing.size() == all.size()) return {};
  if (missing.size() + 1 == all.size()) {
    Ranks alone;
    std::ranges::set_difference(all, missing, std::back_inserter(alone));
    return {
        "share-of-one-rank",
        fmt::format("that is the share of {0} alone: {2} never {1}, or overwritten by what "
                    "was received?",
                    ranks_in_words(alone), how,
                    missing.size() == 1 ? fmt::format("is that of {}", ranks_in_words(missing))
                                        : fmt::format("are those of {}", ranks_in_words(missing)))};
  }
  const bool is_one = missing.size() == 1;
  return {is_one ? "share-missing" : "shares-missing",
          fmt::format("that is the result without the share{} of {}: never {}, or overwritten "
                      "by what was received?",
                      is_one ? "" : "s", ranks_in_words(missing), how)};
}

Hint origin_of_extremum(ReduceOp op, float value, const Shares& shares) {
  if (std::ranges::count(shares, value) == 0) return {};
  const auto [least, most] = std::ranges::minmax(shares);
  if (value == (op == ReduceOp::MAX ? least : most) && shares.size() > 2) {
    return {"opposite-extremum", fmt::format("that is the {} of all shares",
                                             op == ReduceOp::MAX ? "smallest" : "largest")};
  }
  return lacks(others(shares,
                      [&](std::size_t rank) {
                        return op == ReduceOp::MAX ? shares[rank] <= value : shares[rank] >= value;
                      }),
               shares, "compared");
}

/// Names ranks only where no other shares have that product.
Hint origin_of_product(float value, const Shares& shares) {
  if (shares.size() > kMostEnumerated) return {};
  std::optional<std::size_t> only;
  for (std::size_t set = 1; set < std::size_t{1} << shares.size(); ++set) {
    float product = 1;
    for (std::size_t rank = 0; rank < shares.size(); ++rank)
      product *= (set >> rank & 1) != 0 ? shares[rank] : 1;
    if (product != value) continue;
    if (only) return {};
    only = set;
  }
  if (!only) return {};
  return lacks(others(shares, [&](std::size_t rank) { return (*only >> rank & 1) != 0; }), shares,
               "multiplied in");
}

}  // namespace

Hint origin_of_reduction(ReduceOp op, float value, const Shares& shares) {
  if (std::isnan(value))
    return {"never-written-or-added-early",
            "it was never written, or a buffer was added before it was filled"};
  if (shares.size() < 2) return {};
  if (op == ReduceOp::MAX || op == ReduceOp::MIN) return origin_of_extremum(op, value, shares);
  if (op == ReduceOp::PRODUCT) return origin_of_product(value, shares);

  const auto p = static_cast<double>(shares.size());
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  const bool is_average = op == ReduceOp::AVG;
  const double relative = tolerance(op);
  if (is_average && is_near(value, sum, relative))
    return {"avg-not-divided", "that is the sum: AVG divides it by world_size at the very end"};
  if (is_average && is_near(value, sum / p / p, relative))
    return {"avg-divided-twice", "that is the mean, divided by world_size once more"};
  for (std::size_t rank = 0; rank < shares.size() && !is_average; ++rank) {
    if (shares[rank] == 0 || value != static_cast<float>(sum + shares[rank])) continue;
    return {"share-twice", fmt::format("the share of rank {} was added twice", rank)};
  }
  auto missing = lacking_in_sum(value, shares, relative);
  if (!is_average) return missing ? lacks(*missing, shares) : Hint();
  // A partial sum may have been divided, too.
  const auto divided = lacking_in_sum(value * p, shares, relative);
  if (missing && divided && *missing != *divided) {
    const auto is_alone = [&](const Ranks& ranks) { return ranks.size() + 1 == shares.size(); };
    if (!is_alone(*missing) || !is_alone(*divided)) return {};
    return {"share-of-one-rank",
            "that is one rank's share alone: were the others never added, or overwritten by "
            "what was received?"};
  }
  if (!missing) missing = divided;
  return missing ? lacks(*missing, shares) : Hint();
}

}  // namespace rankbox
