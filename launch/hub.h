// The middle of a star: a thread of rank 0's process that holds the connections to all ranks.
//
// It lets the ranks in, collects what they bring to a collective and hands out what they get, and
// decides which failure was the first. Rank 0 itself talks to it over a pair of sockets, as any
// other rank does, and ends it by closing its own.
//
// Nothing is shared with other threads: no locks. Cost: asleep in poll() unless there is a message.
#pragma once

#include <thread>

#include "launch/fd.h"
#include "launch/hello.h"
#include "launch/star_options.h"

namespace rankbox::launcher {

class Hub {
 public:
  /// Listens, and starts the thread. Throws Error when it cannot.
  /// @param own the hub's end of the pair of sockets
  Hub(const StarOptions& options, const Hello& mine, Fd own);
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;
  /// REQUIRES: rank 0's end is closed. Blocks until everybody has been told, a second at most.
  ~Hub() { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace rankbox::launcher
