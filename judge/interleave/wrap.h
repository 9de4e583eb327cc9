// Functions that replace those of the system in a controlled program.
//
// The linker's option --wrap makes the program's calls of NAME calls of __wrap_NAME (symbols.h has
// the names). Calls from elsewhere stay as they are. On a thread that is not under control, each
// replacement only passes the call on.
#pragma once

#include "judge/interleave/control.h"

// Says which function the next one replaces. (C++ may not declare names with two underscores.)
// Pointers to member functions need even addresses.
#define RANKBOX_WRAPS(name) __asm__("__wrap_" name) __attribute__((aligned(16)))

namespace rankbox::interleave {

/// The thread's step, on an object that the operation changes.
inline Step& change(Thread& me, const Operation& operation) {
  Step& step = me.control->step(operation);
  me.control->changed(operation.place);
  if (operation.second != nullptr) me.control->changed(operation.second);
  return step;
}

}  // namespace rankbox::interleave
