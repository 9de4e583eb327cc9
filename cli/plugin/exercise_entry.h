// A fixed entry symbol that returns the function, whatever its name.
//
// Included before a learner's source file during compilation. The contract is declared first. A
// function with other parameters is then an overload, and the expected one is missing.
//
//   -DRANKBOX_EXERCISE=broadcast_ring -DRANKBOX_EXERCISE_HEADER="collectives/broadcast_ring.h"
#pragma once

#include RANKBOX_EXERCISE_HEADER

extern "C" {
#ifdef RANKBOX_IS_CONTROLLED  // the scheduler of judge/interleave/ looks for it
__attribute__((used, visibility("default"))) void rankbox_is_controlled() {}
#endif
__attribute__((used, visibility("default"))) void (*rankbox_exercise())() {
  return reinterpret_cast<void (*)()>(&rankbox::RANKBOX_EXERCISE);
}
}
