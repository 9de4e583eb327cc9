#include "comm/whole_number.h"

#include <charconv>
#include <system_error>

namespace rankbox {

std::optional<std::int64_t> parse_whole_number(std::string_view text, std::int64_t least,
                                               std::int64_t most) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most) return std::nullopt;
  return value;
}

}  // namespace rankbox
