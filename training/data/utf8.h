// Whether a text is UTF-8, and what it may be if not.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rankbox {

struct NotUtf8 {
  std::size_t offset = 0;  // of the first byte that is none
  std::string encoding;    // that of the text, probably: as iconv names it
};

/// Returns nothing if the text is UTF-8, with or without a byte order mark.
std::optional<NotUtf8> find_not_utf8(std::string_view text);

}  // namespace rankbox
