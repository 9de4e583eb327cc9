#include "gpu/nccl/launches.h"

namespace rankbox::gpu {

NcclLaunches::NcclLaunches() {
  try {
    for (Entry& entry : entries_) {
      check(cudaEventCreateWithFlags(&entry.event, cudaEventDisableTiming),
            "cudaEventCreateWithFlags", {.op = "start"});
    }
  } catch (...) {
    destroy();
    throw;
  }
}

NcclLaunches::~NcclLaunches() { destroy(); }

void NcclLaunches::destroy() {
  for (const Entry& entry : entries_) {
    if (entry.event != nullptr) static_cast<void>(cudaEventDestroy(entry.event));
  }
}

std::uint64_t NcclLaunches::add(cudaStream_t stream, const Doing& doing) {
  Entry& next = entry(latest_ + 1);
  check(cudaEventRecord(next.event, stream), "cudaEventRecord", doing);
  next.finished = false;
  return ++latest_;
}

void NcclLaunches::order(std::uint64_t launch, cudaStream_t stream, const Doing& doing) {
  if (is_forgotten(launch) || entry(launch).finished) return;
  check(cudaStreamWaitEvent(stream, entry(launch).event, 0), "cudaStreamWaitEvent", doing);
}

bool NcclLaunches::is_finished(std::uint64_t launch) {
  if (is_forgotten(launch)) return true;
  Entry& asked = entry(launch);
  if (asked.finished) return true;
  const cudaError_t status = cudaEventQuery(asked.event);
  if (status == cudaErrorNotReady) {
    static_cast<void>(cudaGetLastError());  // "not ready" counts as an error there
    return false;
  }
  check(status, "cudaEventQuery", {.op = "an earlier operation"});
  asked.finished = true;
  ++finished_;
  return true;
}

std::uint64_t NcclLaunches::finished_count() {
  const std::uint64_t first = latest_ < kSize ? 1 : latest_ + 1 - kSize;
  for (std::uint64_t launch = first; launch <= latest_; ++launch) is_finished(launch);
  return finished_;
}

}  // namespace rankbox::gpu
