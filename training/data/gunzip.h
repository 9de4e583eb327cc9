// Gzip files (RFC 1952), unpacked.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rankbox {

/// Returns whether the bytes begin as a gzip file does, whatever its name is.
bool is_gzip(std::string_view bytes);

struct Unpacked {
  std::string bytes;      // as many as could be unpacked
  std::string problem;    // of a damaged or cut file, with its offset; else empty
  bool has_more = false;  // stopped at the limit
};

/// Returns the first `most` bytes of the file's members, unpacked. Throws std::bad_alloc.
Unpacked gunzip(std::string_view packed, std::uint64_t most);

}  // namespace rankbox
