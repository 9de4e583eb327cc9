// The lists of the command line, "2,4,8" and "8:16M:4", and how numbers are written for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankbox::cli {

/// The pieces between commas. "" has none; an empty piece stays, so that its reader can complain.
std::vector<std::string> split_at_commas(std::string_view text);

/// World sizes: "2,4,8". Throws InvalidArgument that names the first piece that is no whole number
/// from 1 to 65536.
std::vector<int> parse_ranks(std::string_view text);

/// Bytes: a list "8,1K,4M", or a sweep "START:END:FACTOR" with START, START*FACTOR, … up to END. K,
/// M and G are powers of 1024. Sorted, without repetitions. Throws InvalidArgument that names what
/// is wrong: a size that is no whole number of float32 (4 bytes), smaller than 4 bytes or larger
/// than 64G, a factor below 2, an end before the start.
std::vector<std::int64_t> parse_sizes(std::string_view text);

/// One number of bytes from 0 to 64G: "0", "100", "64K". Throws InvalidArgument for anything else.
std::int64_t parse_bytes(std::string_view text);

/// "4 MiB", "1.5 KiB", "12 B".
std::string format_bytes(std::int64_t bytes);

/// "1.23 ms": three digits and the unit that suits.
std::string format_seconds(double seconds);

}  // namespace rankbox::cli
