// Emulated events. Each recording is a separate object, so a waiter is not released by a later
// recording on a faster stream.
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "tests/gpu/emulation/cuda_call.h"
#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/cuda_stream.h"

namespace rankbox::gpu::emulation {
namespace {

using Clock = std::chrono::steady_clock;

class Recording {
 public:
  explicit Recording(int device) : device_(device) {}

  void complete() {
    const std::lock_guard lock(mutex_);
    done_ = true;
    when_ = Clock::now();
    changed_.notify_all();
  }
  bool done() const {
    const std::lock_guard lock(mutex_);
    return done_;
  }
  /// Returns false if it took longer than `longest`, or the process is ending.
  bool wait(Clock::duration longest) const {
    const Clock::time_point until = Clock::now() + longest;
    std::unique_lock lock(mutex_);
    while (!done_ && !exiting() && Clock::now() < until) {
      changed_.wait_for(lock, std::chrono::milliseconds(20));
    }
    return done_;
  }
  Clock::time_point when() const {
    const std::lock_guard lock(mutex_);
    return when_;
  }
  int device() const { return device_; }

 private:
  const int device_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  Clock::time_point when_;
};

struct Event {
  int device = 0;
  bool timed = true;
  std::shared_ptr<Recording> last;  // null: never recorded, which counts as done
};

struct Events {
  std::mutex mutex;
  std::map<cudaEvent_t, std::unique_ptr<Event>> of_handle;
};

Events& events() {
  static auto* const all = new Events;
  return *all;
}

/// Copies the event, because other threads may record it meanwhile. Returns false if there is no
/// such event.
bool find_event(cudaEvent_t handle, Event& event) {
  const std::lock_guard lock(events().mutex);
  const auto found = events().of_handle.find(handle);
  if (found == events().of_handle.end()) return false;
  event = *found->second;
  return true;
}

int device_of_event(cudaEvent_t handle) {
  Event event;
  return find_event(handle, event) ? event.device : current_device();
}

cudaError_t state_of(const Event& event) {
  if (event.last == nullptr) return cudaSuccess;
  if (!event.last->done()) return cudaErrorNotReady;
  return health_of(event.last->device());
}

/// Makes a stream wait, until the process ends at the latest. There is no other limit, because host
/// waits for the stream have one.
void wait_on_stream(const Recording& recording) {
  while (!recording.wait(kLongestWait)) {
    if (exiting()) return;
  }
}

}  // namespace
extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned int flags) {
  return call("cudaEventCreateWithFlags", [&] {
    if (handle == nullptr || flags > (cudaEventBlockingSync | cudaEventDisableTiming)) {
      return cudaErrorInvalidValue;
    }
    auto event = std::make_unique<Event>();
    event->device = current_device();
    event->timed = (flags & cudaEventDisableTiming) == 0;
    *handle = reinterpret_cast<cudaEvent_t>(event.get());
    const std::lock_guard lock(events().mutex);
    events().of_handle.emplace(*handle, std::move(event));
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* handle) {
  return cudaEventCreateWithFlags(handle, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return call("cudaEventDestroy", device_of_event(handle), [&] {
    const std::lock_guard lock(events().mutex);
    return events().of_handle.erase(handle) == 1 ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle) {
  return call("cudaEventRecord", device_of_event(handle), [&] {
    const std::shared_ptr<Stream> stream = find_stream(stream_handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const auto recording = std::make_shared<Recording>(stream->device());
    {
      const std::lock_guard lock(events().mutex);
      const auto found = events().of_handle.find(handle);
      // An event can be recorded only on its own device's streams.
      if (found == events().of_handle.end() || found->second->device != stream->device()) {
        return cudaErrorInvalidResourceHandle;
      }
      found->second->last = recording;
    }
    stream->enqueue([recording] { recording->complete(); }, /*always=*/true);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream_handle, cudaEvent_t handle,
                                unsigned int flags) {
  return call("cudaStreamWaitEvent", [&] {
    const std::shared_ptr<Stream> stream = find_stream(stream_handle);
    Event event;
    if (stream == nullptr || !find_event(handle, event)) return cudaErrorInvalidResourceHandle;
    if (flags != 0) return cudaErrorInvalidValue;
    if (event.last != nullptr) {
      stream->enqueue([recording = event.last] { wait_on_stream(*recording); });
    }
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  return call("cudaEventQuery", device_of_event(handle), [&] {
    Event event;
    return find_event(handle, event) ? state_of(event) : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  return call("cudaEventSynchronize", device_of_event(handle), [&] {
    Event event;
    if (!find_event(handle, event)) return cudaErrorInvalidResourceHandle;
    if (event.last != nullptr && !event.last->wait(kLongestWait)) return cudaErrorLaunchTimeout;
    return state_of(event);
  });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return call("cudaEventElapsedTime", [&] {
    Event first;
    Event second;
    if (ms == nullptr) return cudaErrorInvalidValue;
    if (!find_event(start, first) || !find_event(end, second)) {
      return cudaErrorInvalidResourceHandle;
    }
    if (!first.timed || !second.timed || first.last == nullptr || second.last == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    for (const Event* event : {&first, &second}) {
      const cudaError_t state = state_of(*event);
      if (state != cudaSuccess) return state;
    }
    const std::chrono::duration<float, std::milli> elapsed =
        second.last->when() - first.last->when();
    *ms = elapsed.count();
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace rankbox::gpu::emulation
