#include "gpu/device_here.h"

#include <atomic>
#include <memory>

#include "comm/memory_meter.h"
#include "gpu/device/devices.h"
#include "gpu/launch/rank_variables.h"

namespace rankbox::gpu {
namespace {

constexpr double kDeadline = 30;  // seconds, outside of a run

std::atomic<int>& chosen_device() {
  static std::atomic<int> device{-1};
  return device;
}

bool is_rank(const RankDevice& gpu) { return gpu.rank() >= 0; }

}  // namespace

int default_device() {
  if (const int chosen = chosen_device(); chosen >= 0) return chosen;
  const auto& who = launcher::launched();
  return who && who->local_rank > 0 ? who->local_rank % device_count() : 0;
}

void set_default_device(int device) { chosen_device() = device; }

RankDevice& device_here() {
  if (RankDevice* const here = current_rank_device()) return *here;
  static thread_local std::unique_ptr<RankDevice> outside;
  if (outside == nullptr) {
    device_count();  // throws the reason if there is none
    outside = std::make_unique<RankDevice>(/*rank=*/-1, default_device());
  } else {
    // A rank has run on this thread since.
    check(cudaSetDevice(outside->device()), "cudaSetDevice");
    current_rank_device() = outside.get();
  }
  return *outside;
}

void wait_here(const Doing& doing) { device_here().synchronize(kDeadline, doing); }

void settle_here(const Doing& doing) {
  if (!is_rank(device_here())) wait_here(doing);
}

int device_of(Slice slice, int usual) {
  const MemoryMeter* const meter = current_memory_meter();
  const bool is_mine = meter != nullptr && slice.owner() == meter->owner;
  if (is_mine || slice.bytes() == 0) return usual;
  return device_holding(slice.data(), usual);
}

}  // namespace rankbox::gpu
