#include "judge/data_parallel/buckets.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "judge/training/native_calls.h"

namespace rankbox {

namespace {

using Bytes = std::vector<std::int64_t>;  // of all-reduces, in order

bool is_all_reduce(const Event& event) {
  return event.kind == EventKind::kCollective && event.collective == CollectiveKind::kAllReduce;
}

/// Packs elements of consecutive gradients; closes a bucket when `is_full(elements, next)` is true.
template <class IsFull>
Bytes packed_by(const std::vector<std::int64_t>& sizes, IsFull is_full) {
  Bytes buckets;
  for (const std::int64_t next : sizes) {
    const bool has_room = !buckets.empty() && !is_full(buckets.back(), next * kElementBytes);
    if (!has_room) buckets.push_back(0);
    buckets.back() += next * kElementBytes;
  }
  return buckets;
}

/// Returns whether both have the same buckets, in different orders.
bool is_reordered(Bytes actual, Bytes expected) {
  std::ranges::sort(actual);
  std::ranges::sort(expected);
  return actual == expected;
}

/// Returns the incorrect rule that produces these buckets.
Hint rule_of(const Bytes& actual, const std::vector<std::int64_t>& sizes, std::int64_t limit) {
  std::vector<std::int64_t> reversed(sizes.rbegin(), sizes.rend());
  const auto too_large = [=](std::int64_t bytes, std::int64_t next) {
    return bytes + next > limit;
  };
  Bytes backwards = packed_by(reversed, too_large);
  std::reverse(backwards.begin(), backwards.end());
  if (actual == packed_by(sizes, too_large) || actual == backwards) {
    return {"begin-with-last-parameter",
            "they begin with the first parameter: the last layers' gradients are ready first, so "
            "begin with the last"};
  }
  const Bytes expected = packed_by(reversed, too_large);
  if (actual == expected) return {};  // a later round is wrong
  if (is_reordered(actual, expected)) {
    return {"buckets-in-another-order",
            "these are the right ones in another order: from the last parameter to the first, as "
            "backward makes their gradients"};
  }
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  if (actual.size() > sizes.size() &&
      std::accumulate(actual.begin(), actual.end(), std::int64_t{0}) == all * kElementBytes) {
    return many_calls(std::ssize(actual), std::ssize(expected), CollectiveKind::kAllReduce, all);
  }
  const auto as_large = [=](std::int64_t bytes, std::int64_t next) {
    return bytes + next >= limit;
  };
  if (actual == packed_by(reversed, as_large))
    return {"bucket-just-as-large", "a bucket may be just as large as bucket_bytes"};
  const auto of_elements = [=](std::int64_t bytes, std::int64_t next) {
    return bytes + next > limit * kElementBytes;
  };
  if (actual == packed_by(reversed, of_elements))
    return {"bucket-bytes-are-bytes", "bucket_bytes counts bytes: an element has 4"};
  if (actual.size() == sizes.size() && expected.size() < sizes.size())
    return {"each-gradient-alone", "every gradient travels alone: buckets should save latencies"};
  if (actual.size() == 1)
    return {"one-bucket", "all gradients are in one bucket: bucket_bytes is how large it may be"};
  const auto full = [=](std::int64_t bytes, std::int64_t) { return bytes >= limit; };
  if (actual == packed_by(reversed, full)) {
    return {"bucket-closed-too-late",
            "close a bucket before the gradient that would make it too large, not after it"};
  }
  return {"bucket-rule",
          "from the last parameter to the first, a bucket takes gradients until the next one would "
          "make it larger than bucket_bytes"};
}

}  // namespace

std::vector<Bucket> packed(const std::vector<std::int64_t>& sizes, std::int64_t bucket_bytes) {
  std::vector<Bucket> buckets;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    const std::int64_t together =
        buckets.empty() ? 0 : (buckets.back().elements + sizes[i]) * kElementBytes;
    if (buckets.empty() || together > bucket_bytes) buckets.push_back({i + 1, i + 1, 0});
    buckets.back().first = i;
    buckets.back().elements += sizes[i];
  }
  return buckets;
}

std::vector<std::int64_t> sizes_of(const std::vector<Bucket>& buckets) {
  std::vector<std::int64_t> sizes;
  for (const Bucket& bucket : buckets) sizes.push_back(bucket.elements);
  return sizes;
}

std::vector<std::int64_t> all_reduces_of(const Trace& trace, std::size_t rank) {
  std::vector<std::int64_t> bytes;
  for (const Event& event : trace.ranks[rank]) {
    if (is_all_reduce(event)) bytes.push_back(event.bytes);
  }
  return bytes;
}

std::optional<Difference> compare_buckets(const Trace& trace,
                                          const std::vector<std::int64_t>& sizes,
                                          std::int64_t bucket_bytes, int rounds) {
  if (trace.ranks.size() == 1) return std::nullopt;
  Bytes actual;  // all ranks took part in the same ones
  std::vector<const Event*> calls;
  for (const Event& event : trace.ranks.front()) {
    if (!is_all_reduce(event)) continue;
    actual.push_back(event.bytes);
    calls.push_back(&event);
  }
  const std::vector<Bucket> buckets = packed(sizes, bucket_bytes);
  const std::size_t all = buckets.size() * static_cast<std::size_t>(rounds);
  for (std::size_t i = 0; i < std::max(all, actual.size()); ++i) {
    const Bucket& bucket = buckets[i % buckets.size()];
    const std::int64_t bytes = bucket.elements * kElementBytes;
    if (i < all && i < actual.size() && actual[i] == bytes) continue;

    const std::size_t gradients = bucket.last - bucket.first;
    const auto of_one_round = actual.begin() + static_cast<std::ptrdiff_t>(actual.size()) / rounds;
    Difference difference;
    difference.what = fmt::format("all-reduce {} of {}", i + 1, all);
    difference.expected = i >= all ? "no more"
                                   : fmt::format("{} bytes, {} gradient{}", bytes, gradients,
                                                 gradients == 1 ? "" : "s");
    difference.actual = i < actual.size() ? fmt::format("{} bytes", actual[i]) : "none";
    difference.hint = rule_of({actual.begin(), of_one_round}, sizes, bucket_bytes);
    difference.rank = 0;
    if (i < calls.size()) difference.call = calls[i];
    return difference;
  }
  return std::nullopt;
}

}  // namespace rankbox
