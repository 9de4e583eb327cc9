#include "gpu/device/rank_device.h"

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace rankbox::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestGoodbye = 5;  // seconds

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Short waits are looked for without a pause, long ones leave the core to others: ranks that share
/// a machine outnumber its cores.
void pause(double waited) {
  if (waited < 50e-6) return;
  if (waited < 1e-3) return std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::microseconds(waited < 20e-3 ? 20 : 200));
}

/// Polls `query` until it is something else than cudaErrorNotReady.
template <class Query>
void wait_until(Query query, const char* call, double deadline_seconds, const Doing& doing,
                const std::function<void()>& look) {
  const Clock::time_point start = Clock::now();
  for (;;) {
    const cudaError_t status = query();
    if (status != cudaErrorNotReady) return check(status, call, doing);
    cudaGetLastError();  // "not ready" counts as an error there
    if (look) look();
    const double waited = seconds_since(start);
    if (waited > deadline_seconds) {
      throw TimedOut(
          fmt::format("{}the GPU is not done after {:g} s{}; hint: a peer that never comes, or is "
                      "gone, leaves it waiting",
                      in_words(doing), deadline_seconds, place_in_words(doing)),
          context_of(doing));
    }
    pause(waited);
  }
}

cudaStream_t make_stream(int rank) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
        {.op = "start", .rank = rank});
  return stream;
}

/// The stream of the constructor, after making the device current.
cudaStream_t make_first_stream(int rank, int device) {
  check(cudaSetDevice(device), "cudaSetDevice", {.op = "start", .rank = rank});
  return make_stream(rank);
}

/// True once it is done, or failed for good.
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

RankDevice*& current_rank_device() {
  thread_local RankDevice* here = nullptr;
  return here;
}

RankDevice::RankDevice(int rank, int device)
    : rank_(rank), device_(device), stream_(make_first_stream(rank, device)), memory_(stream_) {
  try {
    side_stream_ = make_stream(rank);
  } catch (...) {
    cudaStreamDestroy(stream_);
    throw;
  }
  current_rank_device() = this;
}

RankDevice::~RankDevice() {
  if (current_rank_device() == this) current_rank_device() = nullptr;
  const bool done = is_done(stream_, kLongestGoodbye) && is_done(side_stream_, kLongestGoodbye);
  if (!done) {
    memory_.abandon();
    return;
  }
  memory_.trim();
  // Failures here would be those that were reported already.
  for (const cudaEvent_t event : events_) static_cast<void>(cudaEventDestroy(event));
  static_cast<void>(cudaStreamDestroy(side_stream_));
  static_cast<void>(cudaStreamDestroy(stream_));
  cudaGetLastError();
}

cudaEvent_t RankDevice::take_event() {
  if (free_events_.empty()) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    events_.push_back(event);
    // Room for all of them: give_back must not throw.
    free_events_.reserve(events_.size());
    return event;
  }
  const cudaEvent_t event = free_events_.back();
  free_events_.pop_back();
  return event;
}

void RankDevice::order(cudaStream_t earlier, cudaStream_t later) {
  const cudaEvent_t event = take_event();
  check(cudaEventRecord(event, earlier), "cudaEventRecord");
  check(cudaStreamWaitEvent(later, event, 0), "cudaStreamWaitEvent");
  give_back(event);
}

void RankDevice::wait_for_stream(cudaStream_t stream, double deadline_seconds, const Doing& doing,
                                 const std::function<void()>& look) {
  wait_until([&] { return cudaStreamQuery(stream); }, "cudaStreamQuery", deadline_seconds, doing,
             look);
}

void RankDevice::wait_for_event(cudaEvent_t event, double deadline_seconds, const Doing& doing,
                                const std::function<void()>& look) {
  wait_until([&] { return cudaEventQuery(event); }, "cudaEventQuery", deadline_seconds, doing,
             look);
}

}  // namespace rankbox::gpu
