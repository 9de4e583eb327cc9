#include "gpu/shared/events.h"

#include "gpu/device/check.h"

namespace rankbox::gpu {

SharedEvents::~SharedEvents() {
  // Failures here have been reported already.
  for (const Mark& mark : marks_) {
    if (mark.event_ != nullptr) static_cast<void>(cudaEventDestroy(mark.event_));
  }
  cudaGetLastError();
}

SharedEvents::Mark* SharedEvents::record(cudaStream_t stream, int device, int users) {
  Mark* mark = nullptr;
  {
    std::lock_guard guard(lock_);
    std::vector<Mark*>& unused = unused_[device];
    if (unused.empty()) {
      mark = &marks_.emplace_back();
      mark->device_ = device;
      unused.reserve(marks_.size());  // so that release() cannot fail
    } else {
      mark = unused.back();
      unused.pop_back();
    }
  }
  mark->users_.store(users);
  if (mark->event_ == nullptr) {
    check(cudaEventCreateWithFlags(&mark->event_, cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
  }
  check(cudaEventRecord(mark->event_, stream), "cudaEventRecord");
  return mark;
}

void SharedEvents::wait(cudaStream_t stream, const Mark& mark) {
  check(cudaStreamWaitEvent(stream, mark.event_, 0), "cudaStreamWaitEvent");
}

void SharedEvents::release(Mark* mark) noexcept {
  if (mark == nullptr || mark->users_.fetch_sub(1) > 1) return;
  std::lock_guard guard(lock_);
  unused_.find(mark->device_)->second.push_back(mark);
}

}  // namespace rankbox::gpu
