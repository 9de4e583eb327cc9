// Values that ranks send and contribute, and the expected results. They are exact in every dtype
// and operation for up to 8 ranks, and differ between ranks.
//
// Contributions and results are periodic: for long vectors only the first period is computed,
// because tests are not optimized.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "comm/tensor.h"
#include "tests/support/combine.h"

namespace rankbox::testing {

/// Element i of what rank `from` sends as its message `number`: less than a prime up to which T has
/// all whole numbers.
template <class T>
std::vector<T> letter(int from, int number, std::int64_t count) {
  constexpr int kPrime = std::is_same_v<T, BFloat16> ? 251 : 2039;
  std::vector<T> made(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    made[static_cast<std::size_t>(i)] =
        static_cast<T>(static_cast<int>((from * 509 + number * 101 + i) % kPrime));
  }
  return made;
}

/// Returns element i of a rank's contribution to a collective.
template <class T>
T input(ReduceOp op, std::int64_t rank, std::int64_t i) {
  if (op == ReduceOp::PRODUCT) return static_cast<T>((rank + i) % 3 == 0 ? -2 : 1);
  return static_cast<T>(static_cast<int>((rank * 7 + i * 3) % 23 - 11));
}

/// The period of input(), in elements.
constexpr std::int64_t kPeriod = 23 * 3;

/// Returns elements begin to end - 1 of a sequence with period kPeriod.
template <class T, class Element>
std::vector<T> repeated(std::int64_t begin, std::int64_t end, Element element) {
  std::vector<T> made(static_cast<std::size_t>(end - begin));
  const std::size_t first = std::min(made.size(), static_cast<std::size_t>(kPeriod));
  for (std::size_t i = 0; i < first; ++i) made[i] = element(begin + static_cast<std::int64_t>(i));
  for (std::size_t done = first; done < made.size();) {
    // The part so far is a multiple of the period.
    const std::size_t more = std::min(done, made.size() - done);
    std::copy_n(made.begin(), more, made.begin() + static_cast<std::ptrdiff_t>(done));
    done += more;
  }
  return made;
}

/// Returns elements begin to end - 1 of a rank's contribution.
template <class T>
std::vector<T> inputs(ReduceOp op, std::int64_t rank, std::int64_t begin, std::int64_t end) {
  return repeated<T>(begin, end, [&](std::int64_t i) { return input<T>(op, rank, i); });
}
template <class T>
std::vector<T> inputs(ReduceOp op, std::int64_t rank, std::int64_t count) {
  return inputs<T>(op, rank, 0, count);
}

/// Returns elements begin to end - 1 of the reduction over all ranks.
template <class T>
std::vector<T> reductions(ReduceOp op, std::int64_t world_size, std::int64_t begin,
                          std::int64_t end) {
  // 16-bit floats have no arithmetic; the result is exact all the same.
  using Wide = std::conditional_t<ReducedFloat<T>, float, T>;
  return repeated<T>(begin, end, [&](std::int64_t i) {
    Wide result = input<Wide>(op, 0, i);
    for (std::int64_t rank = 1; rank < world_size; ++rank)
      result = combine<Wide>(result, input<Wide>(op, rank, i), op);
    if (op == ReduceOp::AVG) result = result / static_cast<Wide>(world_size);
    return static_cast<T>(result);
  });
}

/// Returns all ranks' inputs in rank order.
template <class T>
std::vector<T> concatenated(std::int64_t world_size, std::int64_t count) {
  std::vector<T> made;
  for (std::int64_t rank = 0; rank < world_size; ++rank) {
    const std::vector<T> part = inputs<T>(ReduceOp::SUM, rank, count);
    made.insert(made.end(), part.begin(), part.end());
  }
  return made;
}

/// Returns whether they are equal, bit by bit.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// Returns a slice's elements in host memory.
template <class T>
std::vector<T> host_copy(Slice slice) {
  TensorOf<T> copied(slice.size());
  if (slice.size() > 0) copy(copied, slice);
  return to_host(copied);
}

}  // namespace rankbox::testing
