// Memory that a rank's started operations use until they are waited for.
//
// isend, irecv and the async collectives return at once, and read and write their slices later.
// Three mistakes with those slices would have results that depend on timing:
//
//   overlap   one started operation writes to memory that another one uses. The second is refused.
//   free      a tensor is destroyed, or assigned to, while an operation uses it. Its block is kept
//             until the operation ends, so no freed memory is read, and wait() throws BufferReused.
//   touch     copy, accumulate, to_host and the like read what has not been delivered yet, or write
//             to what is being sent or received. The call throws BufferReused.
//
// Cost: to list an operation takes O(log k) while k others are listed. To check a writing one also
// visits the reads that begin in front of its slice, nearer than the longest read: at most one if
// all have the same length. A tensor that is destroyed while nothing is listed costs a comparison.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "comm/call_checks.h"
#include "comm/errors.h"
#include "comm/slice.h"

namespace rankbox {

/// One rank's table. Thread safety: only the rank's own thread uses it.
class BuffersInUse {
  struct Use {
    const char* end;
    const char* operation;
    Place place;
    std::shared_ptr<void> kept;  // the block, once it was freed
  };
  using Uses = std::multimap<const char*, Use>;  // by the address of the first byte

 public:
  BuffersInUse() = default;
  BuffersInUse(const BuffersInUse&) = delete;
  BuffersInUse& operator=(const BuffersInUse&) = delete;

  /// Throws InvalidArgument if a listed operation uses memory of `written`, or writes to `read`.
  /// A null or empty slice overlaps with nothing.
  void check(const Caller& caller, Slice read, Slice written) const;

  /// Throws BufferReused if a listed operation writes to memory of `read`, or uses memory of
  /// `written`. Either may be null.
  /// @param function that touches them, on rank `rank`
  void check_touch(const char* function, Slice read, Slice written, int rank, Place place) const;

  /// One operation's slices, listed until close().
  class Entry {
   public:
    Entry() = default;
    /// REQUIRES: check() accepted the slices. `table` outlives the entry, or its close().
    Entry(BuffersInUse& table, const Caller& caller, Slice read, Slice written);
    Entry(Entry&& other) noexcept { *this = std::move(other); }
    Entry& operator=(Entry&& other) noexcept;
    ~Entry() { close(); }

    void close();
    /// Returns whether a tensor of the slices was freed since they were listed.
    bool was_freed() const;

   private:
    BuffersInUse* table_ = nullptr;  // null: closed
    Uses::iterator read_{};          // reads_.end(): nothing is read
    Uses::iterator written_{};       // writes_.end(): nothing is written
  };

  bool empty() const { return reads_.empty() && writes_.empty(); }

  /// Takes over a block that is being freed, if a listed slice is part of it: returns true, and
  /// calls release(data) when the last such entry is closed. Else returns false.
  bool keep(void* data, std::int64_t bytes, void (*release)(void*));

 private:
  static const Use* find(const Uses& uses, Slice slice, std::int64_t longest);
  Uses::iterator list(Uses& uses, const Caller& caller, Slice slice);
  void remove(Uses& uses, Uses::iterator use);

  Uses reads_;
  Uses writes_;                    // disjoint
  std::int64_t longest_read_ = 0;  // bytes, since reads_ was empty
  // Nodes to list the next operations with: an allocation takes longer than all else here.
  std::vector<Uses::node_type> spares_;  // never grows in remove(), which destructors call
};

/// Returns the error of a wait for an operation whose tensor was freed.
/// @param starter the call that started it
/// @param peer a rank of the world; -1: none
/// @param waited without a line: it did not come to wait
BufferReused freed_before_wait(const Caller& starter, int peer, Place waited);

/// Returns the error of a wait for an operation whose tensor was written to. Parameters: as above.
BufferReused written_before_wait(const Caller& starter, int peer, Place waited);

}  // namespace rankbox
