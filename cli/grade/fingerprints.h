// Fingerprints of a source file, by winnowing (Schleimer, Wilkerson, Aiken: "Winnowing: Local
// Algorithms for Document Fingerprinting", 2003) over normalized tokens (tokens.h).
//
// A fingerprint is the hash of 12 consecutive tokens. Of every 4 consecutive hashes the smallest is
// kept, so two files with a common passage of 15 tokens, about two lines, have a common fingerprint.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rankbox::cli {

struct Fingerprint {
  std::uint64_t hash = 0;
  int first_line = 0;  // of its tokens, from 1
  int last_line = 0;
};

/// Returns those of the first 64 KiB of a text, in its order; none if it has fewer than 12 tokens.
/// Cost: O(n). Thread safety: any thread.
std::vector<Fingerprint> fingerprints_of(std::string_view text);

}  // namespace rankbox::cli
