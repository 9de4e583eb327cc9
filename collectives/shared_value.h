// A number in memory that several threads share, for the exercise `race`.
//
// `value += amount` looks like one step; the machine does three: load the number into a register,
// add to the register, store it back. SharedValue makes the first and the last explicit:
//
//   value.store(value.load() + amount);
//
// It keeps a record of which thread loaded and stored how often, so that a judge can check that a
// program made its updates. The record is per thread and synchronizes nothing: the threads must
// order their accesses themselves.
//
// Thread safety: none, on purpose. load() and store() of different threads race unless the caller
// orders them.
#pragma once

#include <array>
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

  /// Returns the current value. Another thread may change it before the caller has used it.
  /// Throws InvalidArgument in the 257th thread that touches this value.
  std::int64_t load();

  /// Overwrites the value. Throws as load() does.
  void store(std::int64_t value);

  // ---- For the judge, once all threads are joined ----

  /// The accesses of one thread.
  struct Use {
    std::int64_t loads = 0;
    std::int64_t stores = 0;
    // Stores over another number than the thread had loaded.
    std::int64_t overwrites = 0;
    // Stores of the loaded number plus 1.
    std::int64_t additions = 0;
    // Stores of the loaded number minus 1.
    std::int64_t subtractions = 0;

    /// Counts a store of `next` over `current` by a thread that has loaded `loaded`.
    void count_store(std::int64_t current, std::int64_t loaded, std::int64_t next) {
      ++stores;
      if (current != loaded) ++overwrites;
      // Unsigned, since the sum need not fit.
      const auto from = static_cast<std::uint64_t>(loaded);
      const auto to = static_cast<std::uint64_t>(next);
      if (to == from + 1) ++additions;
      if (from == to + 1) ++subtractions;
    }
  };

  /// One entry for each thread that touched the value, in the order of their first access. (A
  /// thread that touches another SharedValue in between gets a new entry.)
  std::vector<Use> uses() const;

  /// The value, without recording a load.
  std::int64_t final_value() const { return value_; }

  // ---- For judge/interleave/, a scheduler that runs a program's threads on one thread ----

  /// The words that each of them needs for itself, 0 at first.
  static std::array<std::uint64_t*, 2> words_of_this_thread();

  /// From now on load() never lets other threads go first: the scheduler does.
  void never_pause() { pauses_ = false; }

  // ---- For a referee ----

  /// Sets the value and the record to those of a run in another process.
  /// REQUIRES: no thread has loaded or stored this value; at most kMaxThreads uses.
  void replace(std::int64_t value, const std::vector<Use>& uses);

 private:
  // One cache line each, or counting would slow the threads down and hide the race that it records.
  struct alignas(64) Slot : Use {
    std::int64_t last_loaded = 0;
    std::int64_t next_pause = 0;  // after this many loads
  };

  Slot& slot_of_this_thread();

  // volatile makes the compiler emit every load and store. It orders nothing between threads.
  volatile std::int64_t value_;
  bool pauses_ = true;
  const std::uint64_t serial_;            // unlike the address, never used twice
  std::atomic<std::size_t> threads_ = 0;  // including those that were refused
  std::vector<Slot> slots_ = std::vector<Slot>(kMaxThreads);  // never grows
};

}  // namespace rankbox
