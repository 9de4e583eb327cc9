// Collectives, algorithms and sizes on the command line; sizes are in the form of nccl-tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/collective_kind.h"

namespace rankbox::cli {

/// Returns the collectives of "all_reduce", "broadcast,reduce" or "all", in the order given. Throws
/// InvalidArgument that lists the names.
std::vector<CollectiveKind> parse_collectives(const std::string& text);

/// Returns the pieces of "ring,tree", each the name of an algorithm of one of the collectives.
/// Throws InvalidArgument that lists the names.
std::vector<std::string> parse_algorithms(const std::string& text,
                                          const std::vector<CollectiveKind>& collectives);

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
