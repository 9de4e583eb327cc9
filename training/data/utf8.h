// Whether a text is UTF-8, and what it may be if not.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rankbox {

struct NotUtf8 {
  std::size_t offset = 0;  // of the first byte that is none
  std::string problem;     // in words: "not UTF-8 at byte 3, perhaps LATIN1"
  std::string encoding;    // to convert from, as iconv names it; empty: the text is damaged instead
};

/// Returns nothing if the text is UTF-8 without zero bytes, with or without a byte order mark.
std::optional<NotUtf8> find_not_utf8(std::string_view text);

}  // namespace rankbox
