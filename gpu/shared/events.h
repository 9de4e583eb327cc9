// CUDA events that outlive the rank that recorded them, for ranks that share GPUs.
//
// An event says how far a stream had come. The stream that waits for it may be another rank's, and
// that rank may come to wait long after the recording one has returned. So events belong to the
// run, and each goes back to the pool when its last user has released it.
//
// An event from the pool may be recorded again while streams still have to wait for its earlier
// record. That is safe: cudaStreamWaitEvent waits for the record at the time of its call, and each
// user calls it before it releases the event.
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
  /// REQUIRES: all streams are done, or given up.
  ~SharedEvents();
  SharedEvents(const SharedEvents&) = delete;
  SharedEvents& operator=(const SharedEvents&) = delete;

  /// Marks all that is on the stream now, for so many users (1 or more), each of whom is going to
  /// call release().
  /// @param device the stream's, which is the thread's current one: events can be recorded on the
  /// device of their making only
  Mark* record(cudaStream_t stream, int device, int users);

  /// What is put on the stream from now on comes after the mark. Does not block.
  static void wait(cudaStream_t stream, const Mark& mark);

  /// Null is fine.
  void release(Mark* mark) noexcept;

 private:
  std::mutex lock_;                           // guards the rest
  std::deque<Mark> marks_;                    // all of them
  std::map<int, std::vector<Mark*>> unused_;  // by device
};

}  // namespace rankbox::gpu
