// A second stack for signal handlers, and the rank of the thread that a handler interrupts.
#pragma once

#include <memory>

namespace rankbox::cli {

/// While one lives, handlers that ask for it (SA_ONSTACK) run on its memory in this thread: after an
/// endless recursion there is nothing left of the thread's own stack.
class SignalStack {
 public:
  SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  ~SignalStack();

 private:
  std::unique_ptr<char[]> memory_;
};

/// The rank that this thread runs; -1: none. Safe in a signal handler.
int rank_of_this_thread();

}  // namespace rankbox::cli
