// race: threads add to and subtract from one shared value, and no update may get lost.
//
// Idea: ranks that are threads share their memory, and `value += amount` on shared memory is not
// one step but three: load, add, store. If another thread stores between my load and my store, I
// overwrite what it did. Whoever wants to update shared memory must see to it that nobody comes in
// between (or not share memory at all: the chapters that follow send messages instead).
//
// Before: value holds some number v.
// After:  value holds v + threads/2 * repeats - threads/2 * repeats = v, in every run, and all
//         threads have ended.
//
// The program is written and wrong: mend it. Three rules keep it the same program:
//   - `threads` threads are started; those with an even number add 1, the others subtract 1;
//   - each of them makes `repeats` updates, one by one, each with one load() and one store();
//   - nobody else loads or stores.
//
// Cost: threads * repeats updates. Mended, they happen one after the other, however many cores
// there are: `./rankbox race` measures what that costs.
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
