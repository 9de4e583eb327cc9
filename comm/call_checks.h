// Argument checks at the beginning of every communicator call, on every backend. Errors name the
// value, the expected value, and the call's place.
#pragma once

#include <cstdint>
#include <span>

#include "comm/errors.h"
#include "comm/place.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox {

/// One call of one rank, for messages and error contexts.
struct Caller {
  int rank = -1;            // in the world
  std::uint64_t owner = 0;  // of the rank's tensors (MemoryMeter::owner)
  int index = -1;           // of the rank in its communicator,
  int size = 0;             // and its size; 0: not a member (split, negative color)
  const char* operation = "";
  Place place{};
  bool continues = false;  // a further wait of one wait_all

  /// @param peer its rank in the world
  ErrorContext context(int peer = -1) const;
};

/// Throws InvalidArgument: "rank 3, send at ring.cc:12: " followed by the problem.
[[noreturn]] void refuse(const Caller& caller, const std::string& problem);

/// Every check throws InvalidArgument.
void check_member(const Caller& caller);
/// Refuses a call on another thread than the rank's own.
void check_thread(const Caller& caller);
void check_peer(const Caller& caller, int peer, const char* role);
/// The same for a message, whose peer may be kNoRank.
void check_message_peer(const Caller& caller, int peer, const char* role);
void check_source(const Caller& caller, Slice slice);
void check_target(const Caller& caller, Slice slice);
void check_disjoint(const Caller& caller, Slice out, Slice in);
/// Throws if an operation that was not waited for writes to memory of one of them, or reads memory
/// of `written`. Either may be null.
void check_not_in_use(const Caller& caller, Slice read, Slice written);
/// Throws unless they share no memory, or `part` begins at element `begin` of `whole`.
void check_in_place(const Caller& caller, Slice part, Slice whole, std::int64_t begin);
void check_size(const Caller& caller, Slice slice, std::int64_t expected, const char* name,
                const char* formula);
/// Refuses an average that the dtype cannot hold.
void check_op(const Caller& caller, ReduceOp op, DType dtype);
void check_same_dtype(const Caller& caller, Slice a, Slice b);
/// Checks the ranks of group(). Returns which of them is this rank; -1 for none.
int check_group(const Caller& caller, std::span<const int> ranks);
/// Throws unless the group has the ranks that this one named, as its rank and size there tell.
void check_group_made(const Caller& caller, std::span<const int> ranks, int index, int size);
/// Throws for the argument of wait().
[[noreturn]] void refuse_foreign_request(const Caller& caller, int its_rank);
/// Checks the argument of compute().
void check_seconds(const Caller& caller, double seconds);

}  // namespace rankbox
