// Native collectives of a few bytes, among not too many ranks.
//
// Nobody takes a lock, and no last rank does the work for all: every rank writes its call, data
// included, into a slot of its own, one cache line, and looks at the others' slots until all have
// called; then it computes its own result. So a call costs one line out and one line in from every
// other rank, and those travel side by side.
//
// Whether a call goes this way must be the same on all ranks. So every rank publishes every call:
// as short, with its data, or as long (too large, of another kind). A call is short if all ranks'
// are, and equal. A rank that sees one that is not takes its own to the group's jobs, and so does
// everybody in the end, for what is published stays.
//
// A rank's slots are used in turn. Two are enough: whoever publishes call k + 2 has seen all ranks
// at call k + 1, and so done with call k. An asynchronous call does not wait to see anybody: from a
// rank's first one on, all its calls in the group are long, and that is the last it publishes.
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
  static constexpr std::size_t kMostRanks = 64;  // each looks at each

  /// @param members world ranks, by index in the group; they must outlive this
  ShortCollectives(World& world, const std::vector<int>& members, bool closed);

  /// Rank `index` makes its next call. Neither blocks.
  void publish(int index, const CollectiveCall& call);
  void publish_async(int index);

  enum class End { kDone, kLong, kStopped };

  /// Called by rank `index` for the call it has published last: waits for the other ranks and
  /// computes the result. kLong: nothing was done, and the call must go to the group's jobs.
  /// @param waiting what the rank is said to wait for if it sleeps
  End finish(int index, const CollectiveCall& call, const Operation& waiting);

  /// The indices of those that a sleeping rank waits for. While every rank sleeps.
  std::vector<int> awaited_by(int index) const;

  /// Ends all waits, now and later.
  void close();

 private:
  /// What must be equal on all ranks.
  struct Signature {
    CollectiveKind kind;
    ReduceOp op;
    DType dtype;
    std::uint8_t count;
    std::int32_t root;
    /// In one comparison: every rank makes it with every other.
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

  /// What other ranks write to or rarely read.
  struct alignas(64) Seat {
    std::atomic<std::uint64_t> long_from{std::numeric_limits<std::uint64_t>::max()};
    std::atomic<std::uint32_t> bed{kAwake};
  };
  enum Bed : std::uint32_t { kAwake, kAsleep, kWaking };

  enum class Seen { kMissing, kSame, kLong };

  static Signature signature_of(const CollectiveCall& call);
  int size() const { return static_cast<int>(members_.size()); }
  bool is_possible(int index) const;
  std::uint64_t last_call(int index) const;
  Slot& slot(int index, std::uint64_t number);
  const Slot& slot(int index, std::uint64_t number) const;
  Seen look_at(int index, std::uint64_t number, const Signature& mine) const;
  template <class IsOver>
  void sleep(int index, const Operation& waiting, IsOver is_over);
  void wake_sleepers();
  void compute(int index, std::uint64_t number, const CollectiveCall& call);

  World& world_;
  const std::vector<int>& members_;
  std::vector<Slot> slots_;                   // [2 * index + number % 2]; none in large groups
  std::vector<Seat> seats_;                   // [index]
  alignas(64) std::atomic<int> sleepers_{0};  // no fewer than there are beds not kAwake
  std::atomic<bool> closed_;
};

}  // namespace rankbox::sim
