// What every call verifies before it does anything: errors that name the value, what was expected,
// and the call's place.
#pragma once

#include "comm/errors.h"
#include "comm/place.h"
#include "comm/slice.h"
#include "sim/group.h"
#include "sim/rank_state.h"

namespace rankbox::sim {

/// One call of one rank, for messages and error contexts.
struct Caller {
  const RankState* rank;
  const Group* group;  // null: the rank was left out of this communicator
  const char* operation;
  Place place;

  ErrorContext context(int peer = -1) const;
};

/// Every check throws InvalidArgument.
void check_member(const Caller& caller);
void check_peer(const Caller& caller, int peer, const char* role);
void check_source(const Caller& caller, Slice slice);
void check_target(const Caller& caller, Slice slice);
void check_disjoint(const Caller& caller, Slice out, Slice in);
/// Either they share no memory, or `part` is what begins at element `begin` of `whole`.
void check_in_place(const Caller& caller, Slice part, Slice whole, std::int64_t begin);
void check_size(const Caller& caller, Slice slice, std::int64_t expected, const char* name,
                const char* formula);
void check_same_dtype(const Caller& caller, Slice a, Slice b);

}  // namespace rankbox::sim
