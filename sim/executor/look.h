// Looking again and again before going to sleep.
#pragma once

#include "sim/executor/cpu_relax.h"

namespace rankbox::sim {

/// How long a waiting rank looks before it sleeps.
struct Patience {
  int looks = 1;
  void (*yield)() = nullptr;  // lets other ranks run between two looks; null: all have cores
};

/// Calls done() until it returns true, as often as patience allows. Returns what it returned last.
template <class Done>
bool look_until(Done done, Patience patience) {
  // The first looks, about a microsecond, come without a pause: on recent cores a pause costs as
  // much as a message.
  constexpr int kEagerLooks = 400;
  for (int i = 0; i < patience.looks; ++i) {
    if (done()) return true;
    if (patience.yield != nullptr) {
      patience.yield();
    } else if (i >= kEagerLooks) {
      cpu_relax();
    }
  }
  return done();
}

}  // namespace rankbox::sim
