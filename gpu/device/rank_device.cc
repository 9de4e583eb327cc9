#include "gpu/device/rank_device.h"

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace rankbox::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestWait = 5;  // seconds

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
    static_cast<void>(library_.release());  // its end would wait
    return;
  }
  library_.reset();
  memory_.trim();
  // Failures here have been reported already.
  static_cast<void>(cudaEventDestroy(event_));
  static_cast<void>(cudaStreamDestroy(side_stream_));
  static_cast<void>(cudaStreamDestroy(stream_));
  cudaGetLastError();
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
