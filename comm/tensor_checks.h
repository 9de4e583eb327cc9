// The argument checks of comm/slice.h and comm/tensor.h, for every kind of memory.
#pragma once

#include <cstdint>
#include <string>

#include "comm/place.h"
#include "comm/slice.h"

namespace rankbox {

/// Throws InvalidArgument: "rank 3, accumulate at ring.cc:12: " and the problem; without the rank
/// outside any rank, and without a place that is not known.
[[noreturn]] void refuse_arithmetic(const char* function, const std::string& problem,
                                    Place place = Place());

/// Each throws InvalidArgument as comm/tensor.h says, and BufferReused for memory that a started
/// operation uses.
void check_written(const char* function, Slice into, Place place = Place());
void check_pair(const char* function, Slice into, Slice from, Place place);
/// A factor or divisor of integers must be an integer that fits their type.
void check_factor(const char* function, Slice into, double factor, Place place);
void check_factor(const char* function, Slice into, std::int64_t factor, Place place);
/// A divisor of integers must also not be 0.
void check_divisor(Slice into, double divisor, Place place);
void check_divisor(Slice into, std::int64_t divisor, Place place);

}  // namespace rankbox
