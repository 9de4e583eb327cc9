// The deadline of collectives that block inside MPI (RunOptions::blocking_calls).
//
// The rank's thread cannot check the clock there, so another thread does. That thread cannot use
// MPI meanwhile, so it reports its own rank's operations and ends the process. The launcher ends
// the rest.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "comm/flight_recorder.h"

namespace rankbox::mpi {

class BlockingDeadline {
 public:
  /// @param recorder the rank's recorder, which outlives this
  BlockingDeadline(const FlightRecorder& recorder, double seconds, int world_size);
  ~BlockingDeadline();
  BlockingDeadline(const BlockingDeadline&) = delete;
  BlockingDeadline& operator=(const BlockingDeadline&) = delete;

 private:
  void run();
  void end_if_late() const;

  const FlightRecorder& recorder_;
  const double seconds_;
  const int world_size_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace rankbox::mpi
