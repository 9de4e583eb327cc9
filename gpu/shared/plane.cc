#include "gpu/shared/plane.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "gpu/device/check.h"
#include "gpu/device/devices.h"
#include "gpu/kernels/kernels.h"
#include "gpu/shared/collective.h"

namespace rankbox::gpu {
namespace {

/// Launches each kernel once per process and device: the first launch loads its code, which takes
/// milliseconds.
void warm_once(const RankDevice& gpu) {
  static std::mutex lock;
  static std::set<int> warm;
  {
    // Not during the launches: a rank that hangs in one must not keep others from ending.
    std::lock_guard guard(lock);
    if (!warm.insert(gpu.device()).second) return;
  }
  warm_kernels(gpu.stream());
}

/// Waits for the rank's streams, some seconds at most. Returns whether they have finished or
/// failed.
bool is_done(const RankDevice& gpu) noexcept {
  constexpr double kLongestWait = 5;  // seconds
  for (const cudaStream_t stream : {gpu.stream(), gpu.side_stream()}) {
    try {
      RankDevice::wait_for_stream(stream, kLongestWait);
    } catch (const TimedOut&) {
      return false;
    } catch (...) {  // a failed stream executes nothing more
    }
  }
  return true;
}

}  // namespace

SharedPlane::SharedPlane(std::vector<int> devices, double deadline_seconds)
    : devices_(std::move(devices)), deadline_seconds_(deadline_seconds), ranks_(devices_.size()) {}

void SharedPlane::enter(int rank) {
  const int device = devices_[static_cast<std::size_t>(rank)];
  Rank& state = state_of(rank);
  const auto sharers = std::count(devices_.begin(), devices_.end(), device);
  state.gpu = std::make_unique<RankDevice>(rank, device, static_cast<int>(sharers));
  state.gpu->set_waiter([this, &gpu = *state.gpu](cudaStream_t stream, const Doing& doing) {
    RankDevice::wait_for_stream(stream, deadline_seconds_, doing, gpu.spins());
  });

  const std::set<int> all(devices_.begin(), devices_.end());
  const std::vector<int> out_of_reach = enable_peer_access({all.begin(), all.end()});
  std::set_difference(all.begin(), all.end(), out_of_reach.begin(), out_of_reach.end(),
                      std::back_inserter(state.reachable));
  warm_once(*state.gpu);
}

void SharedPlane::leave(int rank) noexcept {
  current_rank_device() = nullptr;
  // A run ends after its GPUs have finished. Failures and hangs have been reported.
  Rank& state = state_of(rank);
  if (state.gpu != nullptr) state.done = is_done(*state.gpu);
}

SharedPlane::~SharedPlane() {
  const bool all_done =
      std::all_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return rank.done; });
  if (all_done) return;
  // Work that still runs may use any rank's memory: all of it stays allocated until the process
  // ends.
  staging_.abandon();
  for (Rank& rank : ranks_) static_cast<void>(rank.gpu.release());
}

void SharedPlane::prepare(int rank, bool later, std::span<Transit*> operations) {
  RankDevice& gpu = device_of_rank(rank);
  SharedEvents::Mark* const ready =
      events_.record(gpu.stream(), gpu.device(), static_cast<int>(operations.size()));
  for (Transit*& transit : operations) {
    transit = transits_.take();
    transit->rank = rank;
    transit->device = gpu.device();
    transit->stream = later ? gpu.side_stream() : gpu.stream();
    transit->aside = later;
    transit->ready = ready;
  }
}

SharedPlane::Transit* SharedPlane::prepare_copy(int rank, Slice slice, void** data) {
  RankDevice& gpu = device_of_rank(rank);
  Transit* const transit = transits_.take();
  transit->rank = rank;
  transit->device = gpu.device();
  transit->stream = gpu.stream();
  transit->copied = staging_.take(slice.bytes(), gpu.stream(), gpu.device());
  *data = transit->copied.data;
  if (slice.bytes() > 0) {
    check(cudaMemcpyAsync(*data, slice.data(), static_cast<std::size_t>(slice.bytes()),
                          cudaMemcpyDefault, gpu.stream()),
          "cudaMemcpyAsync", {.op = "send", .bytes = slice.bytes()});
  }
  transit->ready = events_.record(gpu.stream(), gpu.device(), /*users=*/1);
  return transit;
}

void SharedPlane::copy(Side to, Side from, std::int64_t bytes, const Transit* mine) {
  if (bytes == 0) return;
  Transit* const here = mine == to.transit ? to.transit : from.transit;
  Transit* const there = mine == to.transit ? from.transit : to.transit;
  if (here->aside) SharedEvents::wait(here->stream, *here->ready);
  SharedEvents::wait(here->stream, *there->ready);
  check(cudaMemcpyAsync(to.data, from.data, static_cast<std::size_t>(bytes), cudaMemcpyDefault,
                        here->stream),
        "cudaMemcpyAsync",
        {.op = here == to.transit ? "recv" : "send", .peer = there->rank, .bytes = bytes});
  // The mark returns a buffered send's memory; for all else of this rank, stream order suffices.
  const bool wants_mark = here->aside || here->copied.data != nullptr;
  there->done = events_.record(here->stream, here->device, wants_mark ? 2 : 1);
  if (wants_mark) here->done = there->done;
}

void SharedPlane::run(std::span<const Part> parts, const Transit* mine) {
  const auto needs_wait = [&](const Transit* transit) { return transit != mine || transit->aside; };
  int users = 0;
  for (const Part& part : parts) {
    if (!needs_wait(part.transit)) continue;
    SharedEvents::wait(mine->stream, *part.transit->ready);
    ++users;
  }
  SharedCollective work(staging_, *mine, state_of(mine->rank).reachable);
  work.enqueue(parts);
  users += work.blocks();
  if (users == 0) return;
  SharedEvents::Mark* const done = events_.record(mine->stream, mine->device, users);
  work.give_back_blocks(done);
  for (const Part& part : parts) {
    if (needs_wait(part.transit)) part.transit->done = done;
  }
}

void SharedPlane::finish(int rank, Transit* transit) {
  try {
    if (transit->done != nullptr) {
      SharedEvents::wait(device_of_rank(rank).stream(), *transit->done);
    }
  } catch (...) {
    give_up(transit);
    throw;
  }
  give_up(transit);
}

void SharedPlane::discard(Transit* transit) noexcept {
  // The memory is unused after the copy or, if there was none, after it was filled.
  SharedEvents::Mark*& after = transit->done != nullptr ? transit->done : transit->ready;
  staging_.give_back(transit->copied, std::exchange(after, nullptr));
  give_up(transit);
}

void SharedPlane::give_up(Transit* transit) noexcept {
  events_.release(transit->ready);
  events_.release(transit->done);
  transits_.give_back(transit);
}

}  // namespace rankbox::gpu
