// The sizes of a sweep, in the form of nccl-tests' -b -e -i -f.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankbox::cli {

/// Parses "8", "64K", "16m", "1G": bytes, in powers of 1024, at most 64G. Throws InvalidArgument
/// that names the option.
std::int64_t parse_size(const char* option, std::string text);

/// Bytes from min_bytes to max_bytes, times step_factor, or plus step_bytes if that is 0.
struct Sweep {
  std::int64_t min_bytes = 0;
  std::int64_t max_bytes = 0;
  std::int64_t step_bytes = std::int64_t{1} << 20;
  int step_factor = 0;
};

/// Returns the sizes in bytes, ascending. Throws InvalidArgument that names the options, for
/// swapped ends and steps that do not advance.
std::vector<std::int64_t> sizes_of(const Sweep& sweep);

}  // namespace rankbox::cli
