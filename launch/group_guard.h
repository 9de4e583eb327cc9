// Kills process groups when this process dies, however it dies.
//
// The kernel can be asked to kill a child then (PR_SET_PDEATHSIG), but not what that child has
// started, which may be the program that holds the GPU. So a process of ours watches: it reads from a
// socket that only we write to, whose end tells that we are gone.
#pragma once

#include <sys/types.h>

#include "launch/fd.h"

namespace rankbox::launcher {

class GroupGuard {
 public:
  /// Starts it. Throws Error when it cannot.
  GroupGuard();
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  /// Ends it. Groups that were not forgotten are killed.
  ~GroupGuard();

  /// At most 4096 at a time; others are not watched.
  void watch(pid_t group) { tell(group); }
  void forget(pid_t group) { tell(-group); }

 private:
  void tell(pid_t word);

  Fd line_;
  pid_t pid_ = -1;
};

}  // namespace rankbox::launcher
