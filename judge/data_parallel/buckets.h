// Compares the expected all-reduce buckets with those of a run.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/trace.h"
#include "judge/subject.h"

namespace rankbox {

/// One bucket: the parameters [first, last), by their index in the model.
struct Bucket {
  std::size_t first = 0;
  std::size_t last = 0;
  std::int64_t elements = 0;
};

/// Returns the buckets that ddp_buckets and ddp_overlap must produce for these parameter sizes:
/// from the last parameter to the first, in sending order.
std::vector<Bucket> packed(const std::vector<std::int64_t>& sizes, std::int64_t bucket_bytes);

/// Returns the elements of each bucket.
std::vector<std::int64_t> sizes_of(const std::vector<Bucket>& buckets);

/// Returns the bytes of each all-reduce of a rank, in order.
std::vector<std::int64_t> all_reduces_of(const Trace& trace, std::size_t rank);

/// Compares the all-reduces of a run with the buckets, repeated `rounds` times. The hint names the
/// violated rule. A single rank need not communicate.
std::optional<Difference> compare_buckets(const Trace& trace,
                                          const std::vector<std::int64_t>& sizes,
                                          std::int64_t bucket_bytes, int rounds);

}  // namespace rankbox
