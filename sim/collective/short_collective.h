// Native collectives of a few bytes, in groups of at most 64 ranks.
//
// There is no lock, and no rank works for all. Each rank writes its call, data included, into its
// own slot, one cache line. It polls the other slots until all have called, and then computes its
// own result. A call thus costs one line out and one line in from every other rank, and those
// travel in parallel.
//
// All ranks must agree on whether a call takes this path. So every rank publishes every call: as
// short, with its data, or as long (too large, or of another kind). A call is short if all ranks'
// calls are short and equal. A rank that sees one that is not moves its own call to the group's
// jobs. Eventually all ranks do, because published calls stay.
//
// A rank alternates between its slots. Two are enough: a rank that publishes call k + 2 has seen
// all ranks at call k + 1, and they are done with call k. An asynchronous call does not wait for
// other ranks. From a rank's first one on, all its calls in the group are long, and it publishes no
// more.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "sim/collective/collective.h"

namespace rankbox::sim {

class World;

class ShortCollectives {
 public:
  static constexpr std::int64_t kMostBytes = 48;
  static constexpr std::size_t kMostRanks = 64;  // each polls each

  /// @param members world ranks, by index in the group; they must outlive this
  ShortCollectives(World& world, const std::vector<int>& members, bool closed);

  /// Publishes the next call of rank `index`. Does not block.
  void publish(int index, const CollectiveCall& call);
  void publish_async(int index);

  enum class End { kDone, kLong, kStopped };

  /// Called by rank `index` for its last published call: waits for the other ranks and computes the
  /// result. kLong: nothing was done, and the call must go to the group's jobs.
  /// @param waiting the operation that a parked rank reports
  End finish(int index, const CollectiveCall& call, const Operation& waiting);

  /// Returns the indices of the ranks that a parked rank waits for. REQUIRES: every rank is parked.
  std::vector<int> awaited_by(int index) const;

  /// Ends all waits, now and later.
  void close();

 private:
  /// The arguments that must be equal on all ranks.
  struct Signature {
    CollectiveKind kind;
    ReduceOp op;
    DType dtype;
    std::uint8_t count;
    std::int32_t root;
    /// A single comparison: every rank compares with every other.
    bool operator==(const Signature& other) const {
      return std::bit_cast<std::uint64_t>(*this) == std::bit_cast<std::uint64_t>(other);
    }
  };
  static_assert(sizeof(Signature) == 8 && std::has_unique_object_representations_v<Signature>);

  struct alignas(64) Slot {
    std::atomic<std::uint64_t> published{0};  // number of the call, from 1; times 2, plus 1 if long
    Signature signature{};
    std::byte data[kMostBytes];
  };
  static_assert(sizeof(Slot) == 64);

  /// Data that other ranks write to or rarely read.
  struct alignas(64) Waiter {
    std::atomic<std::uint64_t> long_from{std::numeric_limits<std::uint64_t>::max()};
    std::atomic<std::uint32_t> state{kAwake};
  };
  enum WaiterState : std::uint32_t { kAwake, kParked, kWaking };

  enum class Seen { kMissing, kSame, kLong };

  static Signature signature_of(const CollectiveCall& call);
  int size() const { return static_cast<int>(members_.size()); }
  bool is_possible(int index) const;
  std::uint64_t last_call(int index) const;
  Slot& slot(int index, std::uint64_t number);
  const Slot& slot(int index, std::uint64_t number) const;
  Seen inspect(int index, std::uint64_t number, const Signature& mine) const;
  template <class IsOver>
  void park(int index, const Operation& waiting, IsOver is_over);
  void wake_parked();
  void compute(int index, std::uint64_t number, const CollectiveCall& call);

  World& world_;
  const std::vector<int>& members_;
  std::vector<Slot> slots_;                 // [2 * index + number % 2]; none in large groups
  std::vector<Waiter> waiters_;             // [index]
  alignas(64) std::atomic<int> parked_{0};  // at least the number of waiters that are not kAwake
  std::atomic<bool> closed_;
};

}  // namespace rankbox::sim
