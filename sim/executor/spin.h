// Spin before parking.
#pragma once

#include "sim/executor/cpu_relax.h"

namespace rankbox::sim {

/// The time that a waiting rank spins before it parks.
struct SpinLimit {
  int spins = 1;
  void (*yield)() = nullptr;  // lets other ranks run between two spins; null: all have cores
};

/// Calls done() until it returns true or the limit is reached. Returns its last result.
template <class Done>
bool spin_until(Done done, SpinLimit limit) {
  // The first spins, about a microsecond, do not pause: on recent cores a pause takes as long as a
  // message.
  constexpr int kWithoutPause = 400;
  for (int i = 0; i < limit.spins; ++i) {
    if (done()) return true;
    if (limit.yield != nullptr) {
      limit.yield();
    } else if (i >= kWithoutPause) {
      cpu_relax();
    }
  }
  return done();
}

}  // namespace rankbox::sim
