// race: threads add to and subtract from one shared value, and no update may be lost.
//
// Idea: ranks that are threads share their memory, and `value += amount` on shared memory is not
// one step but three: load, add, store. If another thread stores between my load and my store, I
// overwrite what it did. A thread that updates shared memory must make sure that no other thread
// comes in between (or share no memory at all: the chapters that follow send messages instead).
//
// Before: value holds some number v.
// After:  value holds v + threads/2 * repeats - threads/2 * repeats = v, in every run, and all
//         threads have ended.
//
// The program is complete and wrong: fix it. Three rules keep it the same program:
//   - `threads` threads are started and no others; those with an even number add 1, the others
//     subtract 1;
//   - each of them makes `repeats` updates, one by one, each with one load() and one store();
//   - no other thread loads or stores.
//
// Cost: threads * repeats updates. In a correct program they happen one after the other, however
// many cores there are: `./rankbox race` measures what that costs.
//
// REQUIRES: threads even, 2 <= threads <= 64; repeats >= 0.
// Blocks until all threads have ended. The value: collectives/shared_value.h.
// Difficulty 1/5. Importance 3/5.
#pragma once

#include <cstdint>

#include "collectives/shared_value.h"

namespace rankbox {

void race(SharedValue& value, int threads, std::int64_t repeats);

}  // namespace rankbox
