#include "gpu/nccl/launches.h"

namespace rankbox::gpu {

NcclLaunches::NcclLaunches() {
  try {
    while (events_.size() < kMost) events_.push_back(make_event({.op = "start"}));
  } catch (...) {
    destroy();
    throw;
  }
}

NcclLaunches::~NcclLaunches() { destroy(); }

void NcclLaunches::clear() {
  for (const Entry& entry : in_flight_) events_.push_back(entry.event);
  first_ += in_flight_.size();
  in_flight_.clear();
}

void NcclLaunches::destroy() {
  clear();
  for (cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
}

bool NcclLaunches::has_room() {
  while (in_flight_.size() >= kMost && query(in_flight_.front())) {
    events_.push_back(in_flight_.front().event);
    in_flight_.pop_front();
    ++first_;
  }
  return in_flight_.size() < kMost;
}

cudaEvent_t NcclLaunches::take_event(const Doing& doing) {
  if (events_.empty()) return make_event(doing);
  const cudaEvent_t event = events_.back();
  events_.pop_back();
  return event;
}

std::uint64_t NcclLaunches::add(cudaStream_t stream, const Doing& doing) {
  static_cast<void>(has_room());  // frees the events of those that have finished
  in_flight_.push_back({take_event(doing)});
  check(cudaEventRecord(in_flight_.back().event, stream), "cudaEventRecord", doing);
  return first_ + in_flight_.size() - 1;
}

void NcclLaunches::order(std::uint64_t launch, cudaStream_t stream, const Doing& doing) {
  const Entry* const entry = find(launch);
  if (entry == nullptr || entry->finished) return;
  check(cudaStreamWaitEvent(stream, entry->event, 0), "cudaStreamWaitEvent", doing);
}

bool NcclLaunches::is_finished(std::uint64_t launch) {
  Entry* const entry = find(launch);
  return entry == nullptr || query(*entry);
}

bool NcclLaunches::query(Entry& entry) {
  if (entry.finished) return true;
  if (!is_done(cudaEventQuery(entry.event), "cudaEventQuery", {.op = "an earlier operation"}))
    return false;
  entry.finished = true;
  ++finished_;
  return true;
}

std::uint64_t NcclLaunches::finished_count() {
  for (Entry& entry : in_flight_) query(entry);
  return finished_;
}

}  // namespace rankbox::gpu
