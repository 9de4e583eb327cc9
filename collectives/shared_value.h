// A number in memory that several threads share, for the exercise `race`.
//
// `value += amount` looks like one step; the machine does three: load the number into a register,
// add to the register, store it back. SharedValue spells the first and the last out:
//
//   value.store(value.load() + amount);
//
// It keeps a record of which thread loaded and stored how often, so that a judge can tell a program
// that made its updates from one that only says so. The record is per thread and synchronizes
// nothing: whatever order the threads need, they must make themselves.
//
// Thread safety: none, on purpose. load() and store() of different threads race unless the caller
// orders them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankbox {

class SharedValue {
 public:
  static constexpr int kMaxThreads = 256;

  explicit SharedValue(std::int64_t value = 0);
  SharedValue(const SharedValue&) = delete;
  SharedValue& operator=(const SharedValue&) = delete;

  /// What the shared memory holds now. Another thread may change it before the caller has used it.
  /// Throws InvalidArgument in the 257th thread that touches this value.
  std::int64_t load();

  /// Overwrites whatever the shared memory holds. Throws as load() does.
  void store(std::int64_t value);

  // ---- For the judge, once all threads are joined ----

  /// What one thread did.
  struct Use {
    std::int64_t loads = 0;
    std::int64_t stores = 0;
    // Stores that were seen to hit another number than the thread had loaded.
    std::int64_t overwrites = 0;
  };

  /// One entry for each thread that touched the value, in the order in which they came. (A thread
  /// that touches another SharedValue in between gets a new entry.)
  std::vector<Use> uses() const;

  /// The value, without recording a load.
  std::int64_t final_value() const { return value_; }

 private:
  // A cache line each, or counting would slow the threads down and hide the race it is to record.
  struct alignas(64) Slot : Use {
    std::int64_t last_loaded = 0;
    std::int64_t next_pause = 0;  // after so many loads
  };

  Slot& slot_of_this_thread();

  // volatile obliges the compiler to make every load and store. It orders nothing between threads.
  volatile std::int64_t value_;
  const std::uint64_t serial_;            // unlike the address, never used twice
  std::atomic<std::size_t> threads_ = 0;  // that came, also of those that were refused
  std::vector<Slot> slots_ = std::vector<Slot>(kMaxThreads);  // never grows
};

}  // namespace rankbox
