#include "files/git_blob.h"

#include <array>
#include <bit>
#include <cstdint>

namespace rankbox {

namespace {

// SHA-1 (FIPS 180-4), the hash of git's object names. It only tells texts apart; nothing depends on
// its security.
using Digest = std::array<std::uint32_t, 5>;
constexpr std::size_t kBlock = 64;

std::uint32_t big_endian(const std::string& text, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 0; i < 4; ++i) word = word << 8 | static_cast<unsigned char>(text[at + i]);
  return word;
}

void add_block(Digest& digest, const std::string& text, std::size_t at) {
  std::array<std::uint32_t, 80> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(text, at + 4 * i);
  for (std::size_t i = 16; i < w.size(); ++i) {
    w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  }
  auto [a, b, c, d, e] = digest;
  for (std::size_t i = 0; i < w.size(); ++i) {
    std::uint32_t f = b ^ c ^ d;
    if (i < 20) f = (b & c) | (~b & d);
    if (i >= 40 && i < 60) f = (b & c) | (b & d) | (c & d);
    constexpr std::array<std::uint32_t, 4> kConstants = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc,
                                                         0xca62c1d6};
    const std::uint32_t next = std::rotl(a, 5) + f + e + kConstants[i / 20] + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const Digest added = {a, b, c, d, e};
  for (std::size_t i = 0; i < digest.size(); ++i) digest[i] += added[i];
}

std::string hexadecimal(const Digest& digest) {
  std::string text;
  for (const std::uint32_t word : digest) {
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[word >> shift & 15];
  }
  return text;
}

}  // namespace

std::string git_blob_id(std::string_view content) {
  std::string text = "blob " + std::to_string(content.size()) + '\0';
  text += content;
  const std::uint64_t bits = std::uint64_t{text.size()} * 8;
  text += '\x80';
  while (text.size() % kBlock != kBlock - 8) text += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(bits >> shift & 255);

  Digest digest = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  for (std::size_t at = 0; at < text.size(); at += kBlock) add_block(digest, text, at);
  return hexadecimal(digest);
}

}  // namespace rankbox
