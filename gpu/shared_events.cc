#include "gpu/shared_events.h"

#include "gpu/check.h"

namespace rankbox::gpu {

SharedEvents::~SharedEvents() {
  // Failures here would be those that were reported already.
  for (const Mark& mark : marks_) {
    if (mark.event != nullptr) static_cast<void>(cudaEventDestroy(mark.event));
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
      mark->device = device;
      unused.reserve(marks_.size());  // so that release() cannot fail
    } else {
      mark = unused.back();
      unused.pop_back();
    }
  }
  mark->users.store(users);
  if (mark->event == nullptr) {
    check(cudaEventCreateWithFlags(&mark->event, cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
  }
  check(cudaEventRecord(mark->event, stream), "cudaEventRecord");
  return mark;
}

void SharedEvents::wait(cudaStream_t stream, const Mark& mark) {
  check(cudaStreamWaitEvent(stream, mark.event, 0), "cudaStreamWaitEvent");
}

void SharedEvents::release(Mark* mark) noexcept {
  if (mark == nullptr || mark->users.fetch_sub(1) > 1) return;
  std::lock_guard guard(lock_);
  unused_.find(mark->device)->second.push_back(mark);
}

}  // namespace rankbox::gpu
