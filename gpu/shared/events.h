// Pooled CUDA events that outlive the rank that recorded them, for ranks that share GPUs.
//
// An event marks a point in a stream's work. Another rank's stream may wait for it, long after the
// recording rank has returned. So events belong to the run, and each returns to the pool when its
// last user releases it.
//
// An event from the pool may be recorded again while streams still have to wait for its earlier
// record. That is safe: cudaStreamWaitEvent waits for the record at the time of its call, and each
// user calls it before releasing the event.
//
// Cost: an uncontended lock, and a CUDA call of about a microsecond. Thread safety: any thread.
// Errors: CudaError.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include <cuda_runtime_api.h>

namespace rankbox::gpu {

class SharedEvents {
 public:
  /// A point in the work of a stream.
  class Mark {
   private:
    friend class SharedEvents;
    cudaEvent_t event_ = nullptr;
    int device_ = -1;
    std::atomic<int> users_{0};
  };

  SharedEvents() = default;
  /// REQUIRES: all streams have finished, or were abandoned.
  ~SharedEvents();
  SharedEvents(const SharedEvents&) = delete;
  SharedEvents& operator=(const SharedEvents&) = delete;

  /// Marks all present work on the stream, for this many users (1 or more). Each user must call
  /// release().
  /// @param device the stream's device and the thread's current one: an event can be recorded only
  /// on the device that created it
  Mark* record(cudaStream_t stream, int device, int users);

  /// Orders later work on the stream after the mark. Does not block.
  static void wait(cudaStream_t stream, const Mark& mark);

  /// Accepts null.
  void release(Mark* mark) noexcept;

 private:
  std::mutex lock_;                           // guards the rest
  std::deque<Mark> marks_;                    // all of them
  std::map<int, std::vector<Mark*>> unused_;  // by device
};

}  // namespace rankbox::gpu
