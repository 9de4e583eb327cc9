#include "judge/visible_text.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace rankbox {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

/// Returns the length of the UTF-8 character at the front; 0 if it is none, which surrogates and
/// encodings that are too long are not.
std::size_t length_of_character(std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xC2    ? 0
                             : first < 0xE0  ? 2
                             : first < 0xF0  ? 3
                             : first <= 0xF4 ? 4
                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  const auto is_next = [](char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80; };
  if (!std::ranges::all_of(text.substr(1, length - 1), is_next)) return 0;
  const std::uint8_t second = byte_at(text, 1);
  const bool is_character = first == 0xE0   ? second >= 0xA0
                            : first == 0xED ? second < 0xA0
                            : first == 0xF0 ? second >= 0x90
                            : first == 0xF4 ? second < 0x90
                                            : true;
  return is_character ? length : 0;
}

/// Returns whether the character controls a terminal, or XML forbids it.
bool is_control(std::string_view character) {
  const std::uint8_t first = byte_at(character, 0);
  if (first == '\n' || first == '\t') return false;
  if (first < 0x20 || first == 0x7F) return true;
  // U+0080 to U+009F; what changes the direction of text, and what has no width, but for the joiners
  // that some scripts and emoji need.
  if (first == 0xC2) return byte_at(character, 1) < 0xA0;
  return (character >= "\u202A" && character <= "\u202E") ||
         (character >= "\u2066" && character <= "\u2069") || character == "\u2028" ||
         character == "\u2029" || character == "\u200E" || character == "\u200F" ||
         character == "\u061C" || character == "\u200B" ||
         (character >= "\u2060" && character <= "\u2064") ||
         (character >= "\U000E0000" && character <= "\U000E007F") || character == "\uFFFE" ||
         character == "\uFFFF";
}

/// Returns whether a runner may pass the character over before a command.
bool is_space(std::string_view character) {
  return character == " " || character == "\t" || character == "\u00A0" || character == "\u1680" ||
         (character >= "\u2000" && character <= "\u200B") || character == "\u202F" ||
         character == "\u205F" || character == "\u3000" || character == "\uFEFF";
}

/// Returns whether the runner of GitHub, Azure or TeamCity takes what follows for a command.
bool is_command(std::string_view text, bool begins_line) {
  return (begins_line && text.starts_with("::")) || text.starts_with("##[") ||
         text.starts_with("##vso[") || text.starts_with("##teamcity[");
}

}  // namespace

std::string visible_name(std::string_view name) {
  std::string visible;
  for (const char c : visible_text(name)) {
    if (c == '\n' || c == '\t') {
      visible += c == '\n' ? "\\x0a" : "\\x09";
    } else {
      visible += c;
    }
  }
  return visible;
}

std::string visible_text(std::string_view text) {
  std::string visible;
  bool begins_line = true;  // but for white space
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    if (length == 0 || is_control(character) || is_command(text, begins_line)) {
      for (const char byte : character)
        visible += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(byte));
    } else {
      visible += character;
    }
    begins_line = character == "\n" || (begins_line && is_space(character));
    text.remove_prefix(character.size());
  }
  return visible;
}

}  // namespace rankbox
