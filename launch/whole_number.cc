#include "launch/whole_number.h"

#include <charconv>
#include <system_error>

namespace rankbox::launcher {

std::optional<int> whole_number(std::string_view text, int least, int most) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < least || value > most) return std::nullopt;
  return value;
}

}  // namespace rankbox::launcher
