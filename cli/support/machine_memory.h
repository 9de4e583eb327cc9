// This machine's memory, and whether a world fits into it.
#pragma once

#include <cstdint>
#include <string_view>

namespace rankbox::cli {

std::int64_t machine_memory_bytes();

/// Throws InvalidArgument, in one line with the memory that they need, if the ranks do not fit into
/// this machine's memory. Call before anything is allocated.
/// @param bytes_of_rank a double, since a mistyped size may be more than an integer holds
/// @param tensors what a rank holds, as in "64 MiB"
/// @param fix as in "use fewer ranks"
void check_fits_memory(std::int64_t ranks, double bytes_of_rank, std::string_view tensors,
                       std::string_view fix);

}  // namespace rankbox::cli
