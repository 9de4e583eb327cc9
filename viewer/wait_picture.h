// The wait-for picture of a deadlock, for the terminal.
//
//   ╭▶ rank 0
//   │    │ send, 64 bytes, broadcast_ring.cc:14
//   │    ▼
//   │  rank 1
//   ╰────╯ send, 64 bytes, broadcast_ring.cc:14
//      rank 2 ──▶ rank 1   recv, 64 bytes, broadcast_ring.cc:17
//
// A circle returns to where it began; a chain ends at a rank that has returned. Below are the ranks
// that wait for ranks of the circle or the chain.
#pragma once

#include <functional>
#include <string>

#include "comm/errors.h"

namespace rankbox {

struct WaitPictureOptions {
  std::size_t max_ranks = 16;  // of the circle, and of the others; the rest is counted
  bool ascii = false;          // for terminals without UTF-8
  bool colour = false;         // ANSI: the circle is red
  std::function<std::string(const std::string& file)> display_name;  // of a file; empty: unchanged
};

/// Returns the picture, as lines with their line ends.
std::string draw_waits(const DeadlockError& deadlock, const WaitPictureOptions& options = {});

}  // namespace rankbox
