// A core for a group of processes that take turns, such as the ranks of a sealed check and their
// referee: a second core would only cost them wake-ups across cores.
#pragma once

#include <string>

#include "files/fd.h"

namespace rankbox::cli {

/// Reserves one of the cores that this process may use, until it is destroyed or the process ends.
/// No other of the same purpose, in any process of this network namespace, has the same core.
class ReservedCore {
 public:
  /// Starts looking at the core that runs the calling thread.
  explicit ReservedCore(const std::string& purpose);

  /// Returns the core's number; -1 if none was left.
  int number() const { return number_; }

 private:
  int number_ = -1;
  Fd reservation_;
};

/// Keeps the calling thread, and the threads and processes that it starts, on the core, where the
/// system allows it.
void keep_to_core(int number);

}  // namespace rankbox::cli
