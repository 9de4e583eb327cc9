#include "gpu/device/rank_device.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "gpu/device/device_memory.h"
#include "gpu/device/shared_stream.h"

namespace rankbox::gpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kLongestEnd = 5;          // seconds
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

/// What ranks have left behind, by the device and the stream that they shared. Never destroyed:
/// CUDA may have ended before it would be.
class Shelf {
 public:
  using Key = std::pair<int, const SharedStream*>;

  static Shelf& all() {
    static auto* const shelf = new Shelf;
    return *shelf;
  }
  std::optional<RankDevice::Kept> take(const Key& key) {
    const std::lock_guard guard(lock_);
    std::vector<RankDevice::Kept>& kept = kept_[key];
    if (kept.empty()) return std::nullopt;
    const RankDevice::Kept last = kept.back();
    kept.pop_back();
    return last;
  }
  cudaStream_t take_stream(int device) {
    const std::lock_guard guard(lock_);
    std::vector<cudaStream_t>& idle = streams_[device];
    if (idle.empty()) return nullptr;
    cudaStream_t last = idle.back();
    idle.pop_back();
    return last;
  }
  void put(int device, cudaStream_t stream) {
    const std::lock_guard guard(lock_);
    streams_[device].push_back(stream);
  }
  void put(const Key& key, const RankDevice::Kept& kept) {
    const std::lock_guard guard(lock_);
    kept_[key].push_back(kept);
  }

 private:
  std::mutex lock_;  // guards the rest
  std::map<Key, std::vector<RankDevice::Kept>> kept_;
  std::map<int, std::vector<cudaStream_t>> streams_;  // idle, by device
};

}  // namespace

std::vector<void (*)()>& start_hooks() {
  static std::vector<void (*)()> hooks;
  return hooks;
}

RankDevice*& current_rank_device() {
  thread_local RankDevice* here = nullptr;
  return here;
}

RankDevice::RankDevice(int rank, int device, SharedStream* shared)
    : rank_(rank), device_(device), shared_(shared) {
  check(cudaSetDevice(device), "cudaSetDevice", {.op = "start", .rank = rank});
  if (auto kept = Shelf::all().take({device, shared})) {
    kept_ = *kept;
  } else {
    create();
  }
  current_rank_device() = this;
}

void RankDevice::create() {
  const Doing doing{.op = "start", .rank = rank_};
  try {
    void* pinned = nullptr;
    check(cudaMallocHost(&pinned, kPinned), "cudaMallocHost", doing);
    kept_.pinned = static_cast<char*>(pinned);
    kept_.event = make_event(doing);
    kept_.stream = shared_ != nullptr ? shared_->stream() : make_stream(doing);
  } catch (...) {
    if (kept_.event != nullptr) cudaEventDestroy(kept_.event);
    cudaFreeHost(kept_.pinned);
    throw;
  }
}

RankDevice::~RankDevice() {
  const bool leaves = ends();  // before the thread has no device any more
  if (current_rank_device() == this) current_rank_device() = nullptr;
  if (leaves) {
    for (void* const block : blocks_) release_on(kept_.stream, block);
    Shelf::all().put({device_, shared_}, kept_);
  } else {
    a_run_hung() = true;
  }
}

void* RankDevice::allocate(std::int64_t bytes) {
  const auto try_to = [&] {
    return shared_ != nullptr ? shared_->allocate(bytes) : allocate_on(kept_.stream, bytes);
  };
  // A release takes a place in the stream's queue, too.
  make_room({.op = "allocate", .bytes = bytes});
  try {
    return try_to();
  } catch (const OutOfMemory&) {
    // What was released elsewhere is there when the stream gets to it.
    if (!ends()) throw;
    return try_to();
  }
}

void RankDevice::release(void* block) noexcept {
  if (block == nullptr) return;
  if (keeps_blocks()) {
    blocks_.push_back(block);
  } else if (shared_ != nullptr) {
    shared_->release(block);
  } else {
    release_on(kept_.stream, block);
  }
}

cudaStream_t RankDevice::take_stream(const Doing& doing) {
  cudaStream_t const kept = Shelf::all().take_stream(device_);
  return kept != nullptr ? kept : make_stream(doing);
}

void RankDevice::give_back(cudaStream_t stream) noexcept {
  if (stream == nullptr) return;
  if (cudaStreamQuery(stream) == cudaSuccess) return Shelf::all().put(device_, stream);
  cudaGetLastError();
  // Work that still runs was aborted; CUDA keeps the stream until it has finished.
  static_cast<void>(cudaStreamDestroy(stream));
}

void RankDevice::order_before(cudaStream_t later) {
  if (shared_ != nullptr) shared_->flush();
  // Recording the event again does not change what earlier waits are for.
  check(cudaEventRecord(kept_.event, kept_.stream), "cudaEventRecord");
  check(cudaStreamWaitEvent(later, kept_.event, 0), "cudaStreamWaitEvent");
}

void RankDevice::before_work(const Doing& doing) {
  make_room(doing);
  if (shared_ != nullptr) shared_->flush();
}

void RankDevice::copy_piece(void* into, const void* from, std::size_t bytes, const Doing& doing) {
  check(cudaMemcpyAsync(into, from, bytes, cudaMemcpyDefault, kept_.stream), "cudaMemcpyAsync",
        doing);
  wait(kLongestCopy, doing);
}

void RankDevice::copy_from_host(void* into, const void* from, std::int64_t bytes,
                                const Doing& doing) {
  for (std::int64_t at = 0; at < bytes; at += kPinned) {
    const auto piece = static_cast<std::size_t>(std::min(kPinned, bytes - at));
    std::memcpy(kept_.pinned, static_cast<const char*>(from) + at, piece);
    copy_piece(static_cast<char*>(into) + at, kept_.pinned, piece, doing);
  }
}

void RankDevice::copy_to_host(void* into, const void* from, std::int64_t bytes,
                              const Doing& doing) {
  for (std::int64_t at = 0; at < bytes; at += kPinned) {
    const auto piece = static_cast<std::size_t>(std::min(kPinned, bytes - at));
    copy_piece(kept_.pinned, static_cast<const char*>(from) + at, piece, doing);
    std::memcpy(static_cast<char*>(into) + at, kept_.pinned, piece);
  }
}

void RankDevice::wait(double deadline_seconds, const Doing& doing) {
  if (shared_ != nullptr) shared_->flush();
  // Other ranks may go on adding work to the stream.
  check(cudaEventRecord(kept_.event, kept_.stream), "cudaEventRecord", doing);
  const auto is_over = [&] {
    return is_done(cudaEventQuery(kept_.event), "cudaEventQuery", doing);
  };
  wait_until(is_over, deadline_seconds, doing);
}

void RankDevice::wait_until(const std::function<bool()>& done, double deadline_seconds,
                            const Doing& doing) {
  const Clock::time_point start = Clock::now();
  while (!done()) {
    const double waited = seconds_since(start);
    if (waited > deadline_seconds) {
      throw TimedOut(
          fmt::format("{}the GPU is not done after {:g} s{}; hint: a peer that never comes, or is "
                      "gone, leaves it waiting",
                      in_words(doing), deadline_seconds, place_in_words(doing)),
          context_of(doing));
    }
    pause(waited, spins_);
  }
}

bool RankDevice::ends() noexcept {
  try {
    wait(kLongestEnd);
  } catch (const TimedOut&) {
    return false;
  } catch (...) {  // a failed stream executes nothing more
    cudaGetLastError();
  }
  return true;
}

}  // namespace rankbox::gpu
