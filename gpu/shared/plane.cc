#include "gpu/shared/plane.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>

#include "gpu/device/check.h"
#include "gpu/device/device_memory.h"
#include "gpu/device/devices.h"
#include "gpu/kernels/kernels.h"
#include "gpu/shared/collective.h"

namespace rankbox::gpu {
namespace {

/// Launches each kernel once per process and device, or a few times if ranks come at the same
/// moment: the first launch loads its code, which takes milliseconds.
void warm_once(const RankDevice& gpu) {
  static std::mutex lock;
  static std::set<int> warm;
  {
    // Not during the launches: a rank that hangs in one must not keep others from ending.
    const std::lock_guard guard(lock);
    if (warm.contains(gpu.device())) return;
  }
  warm_kernels(gpu.stream());
  const std::lock_guard guard(lock);
  warm.insert(gpu.device());
}

}  // namespace

SharedPlane::SharedPlane(std::vector<int> devices, double deadline_seconds)
    : devices_(std::move(devices)),
      has_several_(device_count() > 1),
      deadline_seconds_(deadline_seconds),
      ranks_(devices_.size()) {}

void SharedPlane::enter(int rank) {
  const int device = devices_[static_cast<std::size_t>(rank)];
  Rank& state = state_of(rank);
  SharedStream& shared = SharedStream::of(device, launch_small_operations);
  state.gpu = std::make_unique<RankDevice>(rank, device, &shared);
  state.transit = {.rank = rank, .device = device};
  state.gpu->set_waiter(
      [this, &gpu = *state.gpu](const Doing& doing) { gpu.wait(deadline_seconds_, doing); });
  state.gpu->set_make_room([this, &gpu = *state.gpu](const Doing& doing) {
    gpu.wait_until([&gpu] { return gpu.shared()->has_room(); }, deadline_seconds_, doing);
  });

  const auto sharers = static_cast<int>(std::count(devices_.begin(), devices_.end(), device));
  reserve_memory(bytes_to_reserve(sharers, sharers));
  const std::set<int> all(devices_.begin(), devices_.end());
  state.reachable = enable_peer_access({all.begin(), all.end()});
  warm_once(*state.gpu);
}

void SharedPlane::leave(int rank) noexcept {
  current_rank_device() = nullptr;
  // A run ends after its GPUs have finished. Failures and hangs have been reported.
  Rank& state = state_of(rank);
  if (state.gpu != nullptr) state.done = state.gpu->ends();
}

SharedPlane::~SharedPlane() {
  // Work that still runs uses the stream. The next run must not wait behind it, nor this one once
  // more for each rank.
  std::set<SharedStream*> hung;
  for (const Rank& rank : ranks_) {
    if (!rank.done) hung.insert(rank.gpu->shared());
  }
  for (Rank& rank : ranks_) {
    if (rank.gpu == nullptr) continue;
    SharedStream& stream = *rank.gpu->shared();
    const bool hangs = hung.contains(&stream);
    if (hangs || stream.has_failed()) stream.retire();
    if (hangs) {
      a_run_hung() = true;
      static_cast<void>(rank.gpu.release());
    }
  }
}

SharedStream& SharedPlane::stream_of(const Transit& transit) {
  return *state_of(transit.rank).gpu->shared();
}

/// Returns the device that holds the memory: a tensor that was made outside of the run may be on
/// another than its rank's.
int SharedPlane::holder_of(const Side& side) const {
  return has_several_ ? device_holding(side.data, side.transit->device) : side.transit->device;
}

SharedPlane::Transit* SharedPlane::prepare(int rank) {
  Rank& state = state_of(rank);
  state.gpu->make_room({.op = "a message or collective"});
  return &state.transit;
}

SharedPlane::Transit* SharedPlane::prepare_copy(int rank, Slice slice, void** data) {
  const Transit& mine = state_of(rank).transit;
  SharedStream& stream = stream_of(mine);
  auto buffered = std::make_unique<Transit>(mine);
  // Also makes room. If the copy fails, the run does, and the block stays.
  *data = buffered->copied = state_of(rank).gpu->allocate(slice.bytes());
  const Side from{slice.data(), buffered.get()};
  if (slice.bytes() > 0) {
    stream.copy(*data, mine.device, slice.data(), holder_of(from), slice.bytes(),
                {.op = "send", .bytes = slice.bytes()});
  }
  return buffered.release();
}

void SharedPlane::copy(Side to, Side from, std::int64_t bytes, const Transit* mine) {
  if (bytes == 0) return;
  const bool receives = mine == to.transit;
  SharedStream& here = stream_of(*mine);
  SharedStream& there = stream_of(receives ? *from.transit : *to.transit);
  SharedStream::order(there, here);
  here.copy(to.data, holder_of(to), from.data, holder_of(from), bytes,
            {.op = receives ? "recv" : "send",
             .peer = receives ? from.transit->rank : to.transit->rank,
             .bytes = bytes});
  SharedStream::order(here, there);
}

void SharedPlane::run(std::span<const Part> parts, const Transit* mine) {
  SharedStream& here = stream_of(*mine);
  std::set<SharedStream*> others;
  for (const Part& part : parts) others.insert(&stream_of(*part.transit));
  for (SharedStream* const other : others) SharedStream::order(*other, here);
  here.flush();
  SharedCollective(here, state_of(mine->rank).reachable).enqueue(parts);
  for (SharedStream* const other : others) SharedStream::order(here, *other);
}

void SharedPlane::discard(Transit* transit) noexcept {
  stream_of(*transit).release(transit->copied);
  delete transit;
}

}  // namespace rankbox::gpu
