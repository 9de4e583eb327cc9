// Decides which thread takes the next step.
#pragma once

#include <cstdint>
#include <vector>

#include "judge/interleave/operation.h"

namespace rankbox::interleave {

/// A state between two steps. Threads are numbered in the order in which they were created.
struct Moment {
  std::vector<int> ready;              // threads that can go on, ascending; not empty
  std::vector<bool> polling;           // [thread]: waits in a loop for a change
  std::vector<const Operation*> next;  // [thread]: what it does next; null: it has ended
  int current = 0;                     // the thread that took the last step
  int run = 0;                         // steps in a row of that thread
  std::int64_t steps = 0;              // so far
  const Step* last = nullptr;          // null: none
};

class Strategy {
 public:
  Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;
  virtual ~Strategy() = default;

  /// Returns one of moment.ready.
  virtual int choose(const Moment& moment) = 0;
};

/// Returns the current thread while it is ready and does not yield; then the next ready one, round
/// robin. With few switches, runs are short and easy to read.
int usual_choice(const Moment& moment);

}  // namespace rankbox::interleave
