// Tells an edited text from an unedited one, no more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace rankbox {

/// 16 hexadecimal digits: FNV-1a, of 64 bits.
inline std::string text_digest(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace rankbox
