// Which all-reduces a program should have called, and which it did.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "comm/trace.h"
#include "verdict/subject.h"

namespace rankbox {

/// One bucket: the parameters [first, last), by their place in the model.
struct Bucket {
  std::size_t first = 0;
  std::size_t last = 0;
  std::int64_t elements = 0;
};

/// As ddp_buckets and ddp_overlap have to pack parameters of these sizes: from the last to the
/// first, in the order of their sending.
std::vector<Bucket> packed(const std::vector<std::int64_t>& sizes, std::int64_t bucket_bytes);

/// Their elements.
std::vector<std::int64_t> sizes_of(const std::vector<Bucket>& buckets);

/// The bytes of all all-reduces that a rank took part in, in their order.
std::vector<std::int64_t> all_reduces_of(const Trace& trace, std::size_t rank);

/// The all-reduces of a run against the buckets, which were sent `rounds` times over: the first that
/// is another one, and what rule was broken. Of one rank nothing is asked.
std::optional<Difference> compare_buckets(const Trace& trace,
                                          const std::vector<std::int64_t>& sizes,
                                          std::int64_t bucket_bytes, int rounds);

}  // namespace rankbox
