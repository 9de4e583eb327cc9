// A reserved core for processes that take turns.
//
// The ranks of a sealed check and their referee wait for each other: docs/judging.md has the times.
#pragma once

#include <string>

#include "files/fd.h"

namespace rankbox::cli {

/// Reserves one of the cores that this process may use, until it is destroyed or the process ends.
/// No two reservations of one purpose share a core, in all processes of this network namespace.
/// Thread safety: none, but several objects may be constructed at once.
class ReservedCore {
 public:
  /// Tries the caller's current core first. Does not block; one system call for each core tried.
  /// @param purpose part of a socket's name: at most 80 characters
  explicit ReservedCore(const std::string& purpose);

  /// Returns the core's number; -1 if all are reserved.
  int number() const { return number_; }

 private:
  int number_ = -1;
  Fd reservation_;
};

/// Pins the calling thread, and all threads and processes that it starts later, to the core. Does
/// nothing if the system refuses.
/// REQUIRES: 0 <= number < CPU_SETSIZE.
void pin_to_core(int number);

}  // namespace rankbox::cli
