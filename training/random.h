// Random numbers that are the same on every machine, for every number of ranks, in any order.
//
//   Random random(seed);
//   double u = random.uniform();              // the next one
//   Random other = random.stream(7);          // independent of `random` and of other streams
//   std::uint64_t bits = random.at(1000);     // the thousandth, without drawing those before
//
// The n-th number is a function of the key and n: SplitMix64 (Steele, Lea, Flood 2014), whose state
// is a counter. So a rank can compute the numbers of its part of a batch, and dropout those of its
// forward pass again, without storing or sending them. The distributions of the standard library
// differ from one implementation to the next; these do not.
//
// Cost: 2 ns per number. Not for cryptography.
#pragma once

#include <cstdint>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

namespace rankbox {

class Random {
 public:
  constexpr explicit Random(std::uint64_t seed) : key_(mix(seed)) {}

  constexpr Random stream(std::uint64_t number) const { return Random(key_ ^ mix(~number)); }
  Random stream(std::string_view name) const {
    std::uint64_t digest = 0xcbf29ce484222325;  // FNV-1a
    for (const char letter : name)
      digest = (digest ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    return stream(digest);
  }

  constexpr std::uint64_t at(std::uint64_t n) const {
    return mix(key_ + (n + 1) * 0x9e3779b97f4a7c15);
  }
  /// In [0, 1), a multiple of 2^-53: what the n-th call of uniform() returns.
  constexpr double uniform_at(std::uint64_t n) const {
    return static_cast<double>(at(n) >> 11) * 0x1p-53;
  }

  std::uint64_t next() { return at(count_++); }
  double uniform() { return uniform_at(count_++); }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  bool chance(double probability) { return uniform() < probability; }
  /// Approximately normal, mean 0 and variance 1: the sum of twelve uniform numbers. It needs no
  /// logarithm, which would round differently elsewhere; never beyond ±6.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }
  /// In [0, n). REQUIRES: n >= 1.
  std::int64_t below(std::int64_t n) {
    const auto range = static_cast<std::uint64_t>(n);
    const std::uint64_t uneven = (0 - range) % range;  // 2^64 mod n: draws that would favour some
    std::uint64_t bits = next();
    while (bits < uneven) bits = next();
    return static_cast<std::int64_t>(bits % range);
  }

 private:
  static constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  std::uint64_t key_;
  std::uint64_t count_ = 0;
};

/// 0 … n-1 in random order, each of the n! orders equally likely (Fisher, Yates).
inline std::vector<std::int64_t> permutation(std::int64_t n, Random random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  for (std::int64_t i = n - 1; i > 0; --i) {
    std::swap(order[static_cast<std::size_t>(i)],
              order[static_cast<std::size_t>(random.below(i + 1))]);
  }
  return order;
}

}  // namespace rankbox
