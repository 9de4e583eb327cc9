#include "collectives/shared_value.h"

#include <algorithm>
#include <random>
#include <string>
#include <thread>

#include "comm/errors.h"

namespace rankbox {
namespace {

// Relaxed: the numbers only have to be unique. Anything stronger would order the threads that race.
std::uint64_t next_serial() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

// The value that this thread last touched, by its serial, and the number of the thread's slot
// there.
thread_local std::uint64_t last_serial = 0;
thread_local std::uint64_t last_slot = 0;

// 500 to 1499, and varying, so that the pauses of two threads do not synchronize.
std::int64_t loads_between_pauses() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_int_distribution<std::int64_t>(500, 1499)(random);
}

}  // namespace

SharedValue::SharedValue(std::int64_t value) : value_(value), serial_(next_serial()) {}

std::int64_t SharedValue::load() {
  Slot& slot = slot_of_this_thread();
  slot.last_loaded = value_;
  // Now and then a thread is interrupted here, as any thread may be at any time. So races show
  // within one run on any machine, even with a single core.
  if (++slot.loads >= slot.next_pause && pauses_) {
    slot.next_pause += loads_between_pauses();
    std::this_thread::yield();
  }
  return slot.last_loaded;
}

void SharedValue::store(std::int64_t value) {
  Slot& slot = slot_of_this_thread();
  // The final value may hide a lost addition behind a lost subtraction; this does not.
  slot.count_store(value_, slot.last_loaded, value);
  value_ = value;
}

std::vector<SharedValue::Use> SharedValue::uses() const {
  // A thread that was refused has been counted all the same.
  const std::size_t count = std::min(threads_.load(std::memory_order_relaxed), slots_.size());
  return {slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(count)};
}

void SharedValue::replace(std::int64_t value, const std::vector<Use>& uses) {
  value_ = value;
  threads_ = uses.size();
  for (std::size_t i = 0; i < uses.size(); ++i) static_cast<Use&>(slots_[i]) = uses[i];
}

SharedValue::Slot& SharedValue::slot_of_this_thread() {
  if (last_serial != serial_) {
    const std::size_t index = threads_.fetch_add(1, std::memory_order_relaxed);
    if (index >= slots_.size()) {
      throw InvalidArgument("more than " + std::to_string(kMaxThreads) +
                            " threads touched one SharedValue: start fewer");
    }
    Slot& slot = slots_[index];
    if (pauses_) slot.next_pause = loads_between_pauses();
    last_slot = index;
    last_serial = serial_;
  }
  return slots_[last_slot];
}

std::array<std::uint64_t*, 2> SharedValue::words_of_this_thread() {
  return {&last_serial, &last_slot};
}

}  // namespace rankbox
