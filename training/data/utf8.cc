#include "training/data/utf8.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace rankbox {

namespace {

/// Returns the bytes of the character that the text begins with; 0 if it begins with none.
std::size_t bytes_of_character(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  const std::size_t size = first < 0xC2   ? 0
                           : first < 0xE0 ? 2
                           : first < 0xF0 ? 3
                           : first < 0xF5 ? 4
                                          : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((at(i) & 0xC0) != 0x80) return 0;
  // Longer than needed, a surrogate, or beyond U+10FFFF.
  const unsigned second = at(1);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return size;
}

/// Returns the encoding of a text with zero bytes, which no text in UTF-8 has.
std::string wide_encoding(std::string_view text, std::size_t zero) {
  if (zero + 1 < text.size() && text[zero + 1] == '\0') return "UTF-32";
  return zero % 2 == 0 ? "UTF-16BE" : "UTF-16LE";
}

}  // namespace

std::optional<NotUtf8> find_not_utf8(std::string_view text) {
  constexpr std::string_view kLittle = "\xFF\xFE";
  constexpr std::string_view kBig = "\xFE\xFF";
  if (text.starts_with(std::string_view("\xFF\xFE\0\0", 4))) return NotUtf8{0, "UTF-32"};
  if (text.starts_with(kLittle) || text.starts_with(kBig)) return NotUtf8{0, "UTF-16"};
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos)
    return NotUtf8{zero, wide_encoding(text, zero)};
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = bytes_of_character(text.substr(at));
    if (bytes == 0) {
      // Latin-1 has control characters there, Windows its quotes.
      const bool is_windows = std::ranges::any_of(text, [](char byte) {
        const auto code = static_cast<unsigned char>(byte);
        return code >= 0x80 && code < 0xA0;
      });
      return NotUtf8{at, is_windows ? "WINDOWS-1252" : "LATIN1"};
    }
    at += bytes;
  }
  return std::nullopt;
}

}  // namespace rankbox
