#include "comm/tensor_checks.h"

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/memory_meter.h"
#include "comm/ownership.h"
#include "comm/tensor.h"
#include "comm/without_data.h"

namespace rankbox {

namespace {

void check_owner(const char* function, Slice slice, Place place) {
  const MemoryMeter* meter = current_memory_meter();
  const int owner = meter == nullptr ? -1 : foreign_owner(meter->owner, slice);
  if (owner >= 0) {
    refuse_arithmetic(function,
                      fmt::format("the slice belongs to a tensor of rank {}; ranks share no memory "
                                  "on real machines: receive it",
                                  owner),
                      place);
  }
}

/// Nearly always two comparisons.
void check_touch(const char* function, Slice read, Slice written, Place place) {
  const MemoryMeter* meter = current_memory_meter();
  if (meter == nullptr || meter->in_use.empty()) [[likely]]
    return;
  meter->in_use.check_touch(function, read, written, rank_of_this_thread(), place);
}

void check_not_bool(const char* function, Slice into, Place place) {
  if (into.dtype() != DType::kBool) return;
  refuse_arithmetic(function, "a bool cannot be multiplied or divided; use uint8", place);
}

}  // namespace

void refuse_values(const char* function, Place place) {
  refuse_arithmetic(function,
                    "tensors have no values in this run, only sizes and addresses (--virtual, "
                    "RunOptions::without_data): leave the call out, or run without that",
                    place);
}

void refuse_arithmetic(const char* function, const std::string& problem, Place place) {
  const int rank = rank_of_this_thread();
  const auto line = static_cast<int>(place.line());
  const std::string who = rank < 0 ? "" : fmt::format("rank {}, ", rank);
  const std::string where = line == 0 ? "" : fmt::format(" at {}:{}", place.file_name(), line);
  throw InvalidArgument(fmt::format("{}{}{}: {}", who, function, where, problem),
                        {rank, function, -1, line == 0 ? "" : place.file_name(), line});
}

void check_written(const char* function, Slice into, Place place) {
  if (into.is_null()) {
    refuse_arithmetic(function, "the target slice is null; pass a tensor, or chunk() of one",
                      place);
  }
  if (into.read_only()) {
    refuse_arithmetic(function,
                      "the target is part of a const tensor, which has to stay as it is; give "
                      "another tensor",
                      place);
  }
  check_owner(function, into, place);
  check_touch(function, Slice(), into, place);
}

void detail::check_delivered(const char* function, Slice from, Place place) {
  check_touch(function, from, Slice(), place);
}

void check_pair(const char* function, Slice into, Slice from, Place place) {
  check_written(function, into, place);
  if (from.is_null()) {
    refuse_arithmetic(function, "the source slice is null; pass a tensor, or chunk() of one",
                      place);
  }
  if (into.size() != from.size()) {
    refuse_arithmetic(function, fmt::format("sizes {} and {} differ", into.size(), from.size()),
                      place);
  }
  if (into.dtype() != from.dtype()) {
    refuse_arithmetic(
        function,
        fmt::format("dtypes {} and {} differ", name_of(into.dtype()), name_of(from.dtype())),
        place);
  }
  check_owner(function, from, place);
  check_touch(function, from, Slice(), place);
  if (into.data() != from.data() && overlap(into, from)) {
    refuse_arithmetic(
        function, "the two slices overlap without being the same; work on a clone() of one", place);
  }
}

void check_factor(const char* function, Slice into, double factor, Place place) {
  check_not_bool(function, into, place);
  const bool is_byte = into.dtype() == DType::kUInt8;
  const double limit = is_byte ? 0x1p8 : into.dtype() == DType::kInt32 ? 0x1p31 : 0x1p63;
  const bool fits = factor >= -limit && factor < limit && factor == std::trunc(factor);
  if (is_integer(into.dtype()) && !fits) {
    refuse_arithmetic(function, fmt::format("{} is no {}", factor, name_of(into.dtype())), place);
  }
}

// The value has the integer tensor's type, or narrows to it as in C++.
void check_factor(const char* function, Slice into, std::int64_t, Place place) {
  check_not_bool(function, into, place);
}

void check_divisor(Slice into, double divisor, Place place) {
  check_factor("/=", into, divisor, place);
  if (is_integer(into.dtype()) && divisor == 0)
    refuse_arithmetic("/=", "integers cannot be divided by 0", place);
}

void check_divisor(Slice into, std::int64_t divisor, Place place) {
  check_not_bool("/=", into, place);
  if (is_integer(into.dtype()) && divisor == 0)
    refuse_arithmetic("/=", "integers cannot be divided by 0", place);
}

}  // namespace rankbox
