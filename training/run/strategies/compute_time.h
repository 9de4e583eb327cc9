// Charges the CPU time of its lifetime to the rank's virtual clock.
//
// It uses CPU time, not wall time: ranks that share a core would count each other's work.
#pragma once

#include <ctime>

#include "comm/comm.h"

namespace rankbox::train {

class ComputeTime {
 public:
  explicit ComputeTime(Comm& dist) : dist_(dist), begin_(seconds()) {}
  ComputeTime(const ComputeTime&) = delete;
  ComputeTime& operator=(const ComputeTime&) = delete;
  void stop() { dist_.compute(seconds() - begin_); }

 private:
  static double seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  Comm& dist_;
  double begin_;
};

}  // namespace rankbox::train
