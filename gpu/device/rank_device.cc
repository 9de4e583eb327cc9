#include "gpu/device/rank_device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace rankbox::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestWait = 5;         // seconds
constexpr double kLongestCopy = 30;        // seconds, of a piece
constexpr std::int64_t kPinned = 1 << 20;  // bytes

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Spins for short waits and yields the core in long ones: the ranks of a machine outnumber its
/// cores.
void pause(double waited, bool spins) {
  if (waited < 50e-6) return;
  if (spins || waited < 1e-3) return std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(waited < 20e-3 ? 20 : 200));
}

cudaStream_t make_stream(int rank) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
        {.op = "start", .rank = rank});
  return stream;
}

char* make_pinned(int rank) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, kPinned), "cudaMallocHost", {.op = "start", .rank = rank});
  return static_cast<char*>(memory);
}

/// Makes the device current, and returns the constructor's first stream.
cudaStream_t make_first_stream(int rank, int device) {
  check(cudaSetDevice(device), "cudaSetDevice", {.op = "start", .rank = rank});
  return make_stream(rank);
}

/// Returns true if the stream has finished or failed.
bool is_done(cudaStream_t stream, double deadline_seconds) {
  try {
    RankDevice::wait_for_stream(stream, deadline_seconds);
    return true;
  } catch (const TimedOut&) {
    return false;
  } catch (const Error&) {
    return true;
  }
}

}  // namespace

std::vector<void (*)()>& start_hooks() {
  static std::vector<void (*)()> hooks;
  return hooks;
}

RankDevice*& current_rank_device() {
  thread_local RankDevice* here = nullptr;
  return here;
}

RankDevice::RankDevice(int rank, int device, int sharers)
    : rank_(rank), device_(device), stream_(make_first_stream(rank, device)), memory_(stream_) {
  try {
    memory_.make_arena(arena_bytes(sharers));
    pinned_.reset(make_pinned(rank));
    side_stream_ = make_stream(rank);
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags",
          {.op = "start", .rank = rank});
  } catch (...) {
    if (side_stream_ != nullptr) cudaStreamDestroy(side_stream_);
    cudaStreamDestroy(stream_);
    throw;
  }
  current_rank_device() = this;
}

RankDevice::~RankDevice() {
  if (current_rank_device() == this) current_rank_device() = nullptr;
  const bool done = is_done(stream_, kLongestWait) && is_done(side_stream_, kLongestWait);
  if (!done) {
    memory_.abandon();
    static_cast<void>(library_.release());  // their ends would wait
    static_cast<void>(pinned_.release());
    return;
  }
  library_.reset();
  memory_.trim();
  pinned_.reset();
  // Failures here have been reported already.
  static_cast<void>(cudaEventDestroy(event_));
  static_cast<void>(cudaStreamDestroy(side_stream_));
  static_cast<void>(cudaStreamDestroy(stream_));
  cudaGetLastError();
}

void RankDevice::FreePinned::operator()(void* memory) const {
  static_cast<void>(cudaFreeHost(memory));
}

void RankDevice::copy_piece(void* into, const void* from, std::size_t bytes, const Doing& doing) {
  check(cudaMemcpyAsync(into, from, bytes, cudaMemcpyDefault, stream_), "cudaMemcpyAsync", doing);
  wait_for_stream(stream_, kLongestCopy, doing, spins_);
}

void RankDevice::copy_from_host(void* into, const void* from, std::int64_t bytes,
                                const Doing& doing) {
  for (std::int64_t at = 0; at < bytes; at += kPinned) {
    const auto piece = static_cast<std::size_t>(std::min(kPinned, bytes - at));
    std::memcpy(pinned_.get(), static_cast<const char*>(from) + at, piece);
    copy_piece(static_cast<char*>(into) + at, pinned_.get(), piece, doing);
  }
}

void RankDevice::copy_to_host(void* into, const void* from, std::int64_t bytes,
                              const Doing& doing) {
  for (std::int64_t at = 0; at < bytes; at += kPinned) {
    const auto piece = static_cast<std::size_t>(std::min(kPinned, bytes - at));
    copy_piece(pinned_.get(), static_cast<const char*>(from) + at, piece, doing);
    std::memcpy(static_cast<char*>(into) + at, pinned_.get(), piece);
  }
}

void RankDevice::order(cudaStream_t earlier, cudaStream_t later) {
  // Recording the event again does not change what `later` waits for.
  check(cudaEventRecord(event_, earlier), "cudaEventRecord");
  check(cudaStreamWaitEvent(later, event_, 0), "cudaStreamWaitEvent");
}

void RankDevice::wait_for_stream(cudaStream_t stream, double deadline_seconds, const Doing& doing,
                                 bool spins) {
  const Clock::time_point start = Clock::now();
  for (;;) {
    const cudaError_t status = cudaStreamQuery(stream);
    if (status != cudaErrorNotReady) return check(status, "cudaStreamQuery", doing);
    cudaGetLastError();  // "not ready" counts as an error there
    const double waited = seconds_since(start);
    if (waited > deadline_seconds) {
      throw TimedOut(
          fmt::format("{}the GPU is not done after {:g} s{}; hint: a peer that never comes, or is "
                      "gone, leaves it waiting",
                      in_words(doing), deadline_seconds, place_in_words(doing)),
          context_of(doing));
    }
    pause(waited, spins);
  }
}

}  // namespace rankbox::gpu
