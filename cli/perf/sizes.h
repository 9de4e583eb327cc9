// The sizes of a sweep, as nccl-tests' -b -e -i -f give them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/perf/plan.h"

namespace rankbox::perf {

/// "8", "64K", "16m", "1G": bytes, in powers of 1024, at most 64G.
/// Throws InvalidArgument that names the option.
std::int64_t parse_size(const char* option, std::string text);

/// The plan's sizes in bytes, ascending. Throws InvalidArgument, in the words of the options, for
/// sizes that are swapped or never get anywhere.
std::vector<std::int64_t> sizes_of(const Plan& plan);

}  // namespace rankbox::perf
