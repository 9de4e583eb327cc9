#include "comm/tensor_checks.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "comm/ownership.h"

namespace rankbox {
namespace {

/// Returns -1 outside any rank.
int current_rank() {
  const MemoryMeter* meter = current_memory_meter();
  return meter == nullptr ? -1 : static_cast<int>(meter->owner & 0xffffffff) - 1;
}

void check_owner(const char* function, Slice slice) {
  const MemoryMeter* meter = current_memory_meter();
  const int owner = meter == nullptr ? -1 : foreign_owner(meter->owner, slice);
  if (owner >= 0) {
    refuse_arithmetic(function,
                      fmt::format("the slice belongs to a tensor of rank {}; ranks share no memory "
                                  "on real machines: receive it",
                                  owner));
  }
}

}  // namespace

void refuse_arithmetic(const char* function, const std::string& problem) {
  const int rank = current_rank();
  throw InvalidArgument(
      fmt::format("{}{}: {}", rank < 0 ? "" : fmt::format("rank {}, ", rank), function, problem),
      {rank, function, -1, "", 0});
}

void check_written(const char* function, Slice into) {
  if (into.is_null()) {
    refuse_arithmetic(function, "the target slice is null; pass a tensor, or chunk() of one");
  }
  if (into.read_only()) {
    refuse_arithmetic(function,
                      "the target is part of a const tensor, which has to stay as it is; give "
                      "another tensor");
  }
  check_owner(function, into);
}

void check_pair(const char* function, Slice into, Slice from) {
  check_written(function, into);
  if (from.is_null()) {
    refuse_arithmetic(function, "the source slice is null; pass a tensor, or chunk() of one");
  }
  if (into.size() != from.size()) {
    refuse_arithmetic(function, fmt::format("sizes {} and {} differ", into.size(), from.size()));
  }
  if (into.dtype() != from.dtype()) {
    refuse_arithmetic(function, fmt::format("dtypes {} and {} differ", name_of(into.dtype()),
                                            name_of(from.dtype())));
  }
  check_owner(function, from);
  if (into.data() != from.data() && overlap(into, from)) {
    refuse_arithmetic(function,
                      "the two slices overlap without being the same; work on a clone() of one");
  }
}

void check_factor(const char* function, Slice into, double factor) {
  const double limit = into.dtype() == DType::kInt32 ? 0x1p31 : 0x1p63;
  const bool fits = factor >= -limit && factor < limit && factor == std::trunc(factor);
  if (is_integer(into.dtype()) && !fits) {
    refuse_arithmetic(function, fmt::format("{} is no {}", factor, name_of(into.dtype())));
  }
}

// The value has the integer tensor's type, or narrows to it as in C++.
void check_factor(const char*, Slice, std::int64_t) {}

void check_divisor(Slice into, double divisor) {
  check_factor("/=", into, divisor);
  if (is_integer(into.dtype()) && divisor == 0)
    refuse_arithmetic("/=", "integers cannot be divided by 0");
}

void check_divisor(Slice into, std::int64_t divisor) {
  if (is_integer(into.dtype()) && divisor == 0)
    refuse_arithmetic("/=", "integers cannot be divided by 0");
}

}  // namespace rankbox
