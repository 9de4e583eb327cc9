#include "gpu/device/shared_stream.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>

#include "comm/errors.h"
#include "gpu/device/device_memory.h"
#include "gpu/device/devices.h"

namespace rankbox::gpu {
namespace {

/// Those of all devices. Never destroyed: a tensor may outlive everything else.
struct SharedStreams {
  std::mutex lock;
  std::map<int, SharedStream*> by_device;
};

SharedStreams& shared_streams() {
  static auto* const all = new SharedStreams;
  return *all;
}

struct Range {
  const char* begin = nullptr;
  const char* end = nullptr;
};

Range range_of(const void* first, const SmallOperation& operation) {
  const auto* const begin = static_cast<const char*>(first);
  const std::int64_t element =
      operation.kind == SmallOperation::Kind::kCopy ? 1 : size_of(operation.dtype);
  return {begin, begin == nullptr ? begin : begin + operation.count * element};
}

bool overlap(const Range& a, const Range& b) { return a.begin < b.end && b.begin < a.end; }

/// Returns whether the result depends on which of the two is first.
bool conflict(const SmallOperation& a, const SmallOperation& b) {
  const Range a_into = range_of(a.into, a);
  const Range b_into = range_of(b.into, b);
  return overlap(a_into, b_into) || overlap(a_into, range_of(b.from, b)) ||
         overlap(range_of(a.from, a), b_into);
}

}  // namespace

SharedStream& SharedStream::of(int device, Launch launch) {
  const std::lock_guard guard(shared_streams().lock);
  SharedStream*& stream = shared_streams().by_device[device];
  if (stream == nullptr) stream = std::make_unique<SharedStream>(device, launch).release();
  return *stream;
}

void SharedStream::retire() noexcept {
  const std::lock_guard guard(shared_streams().lock);
  std::erase_if(shared_streams().by_device,
                [this](const auto& entry) { return entry.second == this; });
}

SharedStream::SharedStream(int device, Launch launch) : device_(device), launch_(launch) {
  const DeviceGuard guard(device);
  const Doing doing{.op = "start"};
  try {
    event_ = make_event(doing);
    mark_ = make_event(doing);
    stream_ = make_stream(doing);
  } catch (...) {
    for (const cudaEvent_t event : {event_, mark_}) {
      if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
    }
    throw;
  }
  collected_.reserve(kMostSmallOperations);
  released_.reserve(kMostSmallOperations);
}

bool SharedStream::has_room() {
  constexpr int kCallsPerMark = 256;  // so at most twice as many are queued
  const std::lock_guard guard(lock_);
  if (calls_ < kCallsPerMark) return true;
  if (has_mark_ && !is_done(cudaEventQuery(mark_), "cudaEventQuery")) return false;
  check(cudaEventRecord(mark_, stream_), "cudaEventRecord");
  has_mark_ = true;
  calls_ = 0;
  return true;
}

void SharedStream::add(const SmallOperation& operation) {
  const std::lock_guard guard(lock_);
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  int level = 0;
  for (const SmallOperation& before : collected_) {
    if (before.level >= level && conflict(before, operation)) level = before.level + 1;
  }
  collected_.push_back(operation);
  collected_.back().level = static_cast<std::uint8_t>(level);
  const Range into = range_of(operation.into, operation);
  collected_bytes_ += into.end - into.begin;
  if (collected_.size() == kMostSmallOperations || collected_bytes_ >= kMostCollectedBytes)
    flush_locked();
}

void SharedStream::flush() {
  const std::lock_guard guard(lock_);
  flush_locked();
}

bool SharedStream::has_failed() {
  const std::lock_guard guard(lock_);
  return failure_ != nullptr;
}

void SharedStream::flush_locked() {
  ++calls_;  // also that of the caller, which comes next
  if (failure_ == nullptr && !collected_.empty()) {
    // Within a level any order will do.
    std::sort(collected_.begin(), collected_.end(),
              [](const auto& a, const auto& b) { return a.level < b.level; });
    const DeviceGuard guard(device_);
    try {
      launch_(collected_, stream_);
    } catch (...) {
      failure_ = std::current_exception();
    }
    ++calls_;
  }
  collected_.clear();
  collected_bytes_ = 0;
  for (void* const block : released_) release_on(stream_, block);
  calls_ += static_cast<int>(released_.size());
  released_.clear();
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

void SharedStream::copy(void* into, int into_device, const void* from, int from_device,
                        std::int64_t bytes, const Doing& doing) {
  if (bytes == 0 || into == from) return;
  if (into_device == device_ && from_device == device_ && bytes <= kMostSmallBytes)
    return add({.into = into, .from = from, .count = static_cast<std::int32_t>(bytes)});
  flush();
  copy_on(stream_, into, into_device, from, from_device, bytes, doing);
}

void* SharedStream::allocate(std::int64_t bytes) {
  try {
    return allocate_on(stream_, bytes);
  } catch (const OutOfMemory&) {
    flush();  // releases what waits for collected operations
    return allocate_on(stream_, bytes);
  }
}

void SharedStream::release(void* block) noexcept {
  if (block == nullptr) return;
  const std::lock_guard guard(lock_);
  if (released_.size() == kMostSmallOperations) {
    try {
      flush_locked();
    } catch (...) {  // kept as failure_
    }
  }
  if (collected_.empty()) return release_on(stream_, block);
  released_.push_back(block);  // has space
}

void SharedStream::order(SharedStream& earlier, SharedStream& later) {
  if (&earlier == &later) return;
  later.flush();
  const std::lock_guard guard(earlier.lock_);
  earlier.flush_locked();
  check(cudaEventRecord(earlier.event_, earlier.stream_), "cudaEventRecord");
  check(cudaStreamWaitEvent(later.stream_, earlier.event_, 0), "cudaStreamWaitEvent");
}

}  // namespace rankbox::gpu
