#include "training/data/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace rankbox {

namespace {

/// Returns the bytes of a character with this first byte; 0 if none has it.
std::size_t bytes_by_first(char byte) {
  const auto first = static_cast<unsigned char>(byte);
  if (first < 0x80) return 1;
  return first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
}

bool continues(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Returns the bytes of the character that the text begins with; 0 if it begins with none.
std::size_t bytes_of_character(std::string_view text) {
  const std::size_t size = bytes_by_first(text[0]);
  if (size < 2) return size;
  if (text.size() < size || !std::ranges::all_of(text.substr(1, size - 1), continues)) return 0;
  // Longer than needed, a surrogate, or beyond U+10FFFF.
  const auto first = static_cast<unsigned char>(text[0]);
  const auto second = static_cast<unsigned char>(text[1]);
  if (first == 0xE0 && second < 0xA0) return 0;
  if (first == 0xED && second > 0x9F) return 0;
  if (first == 0xF0 && second < 0x90) return 0;
  if (first == 0xF4 && second > 0x8F) return 0;
  return size;
}

/// Returns whether the text ends inside the character that it begins with.
bool is_cut_character(std::string_view text) {
  return text.size() < bytes_by_first(text[0]) && std::ranges::all_of(text.substr(1), continues);
}

/// Returns the wide encoding that zero bytes show in a text without a mark; "" if they show none.
std::string wide_encoding(std::string_view text) {
  std::array<double, 4> bytes{}, zeros{};  // by the offset's remainder
  for (std::size_t i = 0; i < text.size(); ++i) {
    ++bytes[i % 4];
    zeros[i % 4] += text[i] == '\0' ? 1 : 0;
  }
  std::string pattern;  // 0: mostly zero, x: hardly ever
  for (std::size_t i = 0; i < 4; ++i)
    pattern += zeros[i] > .6 * bytes[i] ? '0' : zeros[i] < .1 * bytes[i] ? 'x' : '?';
  if (pattern == "x0x0") return "UTF-16LE";
  if (pattern == "0x0x") return "UTF-16BE";
  if (pattern == "x000") return "UTF-32LE";
  if (pattern == "000x") return "UTF-32BE";
  return "";
}

/// Returns the encoding of a text whose first byte above 127, at `begin`, is not UTF-8.
std::string narrow_encoding(std::string_view text, std::size_t begin) {
  for (std::size_t at = begin; at < text.size();) {
    const std::size_t bytes = bytes_of_character(text.substr(at));
    const auto code = static_cast<unsigned char>(text[at]);
    // Latin-1 has control characters there, Windows its quotes.
    if (bytes == 0 && code >= 0x80 && code < 0xA0) return "WINDOWS-1252";
    at += std::max<std::size_t>(bytes, 1);
  }
  return "LATIN1";
}

NotUtf8 encoded(std::size_t offset, const char* how, const std::string& encoding) {
  return {offset, fmt::format("not UTF-8 at byte {}, {} {}", offset, how, encoding), encoding};
}

}  // namespace

std::optional<NotUtf8> find_not_utf8(std::string_view text) {
  for (const std::string_view mark :
       {std::string_view("\xFF\xFE\0\0", 4), std::string_view("\0\0\xFE\xFF", 4)})
    if (text.starts_with(mark)) return encoded(0, "but", "UTF-32");
  for (const char* const mark : {"\xFF\xFE", "\xFE\xFF"})
    if (text.starts_with(mark)) return encoded(0, "but", "UTF-16");
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    const std::string encoding = wide_encoding(text);
    if (!encoding.empty()) return encoded(zero, "but", encoding);
    return NotUtf8{zero, fmt::format("a zero byte at byte {}", zero), ""};
  }
  bool has_long_characters = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = bytes_of_character(text.substr(at));
    if (bytes == 0) {
      // What is UTF-8 up to there would be spoilt by a conversion.
      if (has_long_characters || is_cut_character(text.substr(at)))
        return NotUtf8{at, fmt::format("not UTF-8 at byte {}: a damaged character", at), ""};
      return encoded(at, "perhaps", narrow_encoding(text, at));
    }
    has_long_characters = has_long_characters || bytes > 1;
    at += bytes;
  }
  return std::nullopt;
}

}  // namespace rankbox
