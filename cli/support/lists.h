// Lists on the command line, "2,4,8" and "8:16M:4", and readable numbers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankbox::cli {

/// Returns the pieces between commas. "" has none. Empty pieces are kept, so that the caller can
/// reject them.
std::vector<std::string> split_at_commas(std::string_view text);

/// The largest world of a command.
inline constexpr int kLargestWorld = 1 << 20;

/// Parses world sizes: "2,4,8". Throws InvalidArgument that names the first piece that is no whole
/// number from 1 to kLargestWorld.
std::vector<int> parse_ranks(std::string_view text);

/// Parses bytes: a list "8,1K,4M", or a sweep "START:END:FACTOR" with START, START*FACTOR, … up to
/// END. K, M and G are powers of 1024. The result is sorted, without repetitions. Throws
/// InvalidArgument that names the problem: a size that is no whole number of float32 (4 bytes),
/// smaller than 4 bytes or larger than 64G, a factor below 2, an end before the start.
std::vector<std::int64_t> parse_sizes(std::string_view text);

/// Parses one number of bytes from 0 to 64G: "0", "100", "64K", "13.5G". Throws InvalidArgument for
/// other text.
std::int64_t parse_bytes(std::string_view text);

/// Returns "4 MiB", "1.5 KiB", "12 B".
std::string format_bytes(std::int64_t bytes);

/// Returns "1.23 ms": three digits and a suitable unit.
std::string format_seconds(double seconds);

/// Returns "9.658 µs", "0 µs", "1.234 ms", "30.08 s": exact times, in µs up to a millisecond.
std::string format_virtual(double seconds);

}  // namespace rankbox::cli
