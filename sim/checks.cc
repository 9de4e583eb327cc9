#include "sim/checks.h"

#include <fmt/format.h>

namespace rankbox::sim {
namespace {

[[noreturn]] void fail(const Caller& caller, const std::string& problem, int peer = -1) {
  throw InvalidArgument(fmt::format("rank {}, {} at {}:{}: {}", caller.rank->rank, caller.operation,
                                    caller.place.file_name(), caller.place.line(), problem),
                        caller.context(peer));
}

void check_not_null(const Caller& caller, Slice slice) {
  if (slice.is_null()) [[unlikely]] {
    fail(caller, "the slice is null; pass a tensor, or chunk() of one");
  }
}

void check_owner(const Caller& caller, Slice slice) {
  // Tensors made outside of any rank have no owner, and those of an earlier world may be used by
  // anyone.
  const std::uint64_t mine = caller.rank->memory.owner;
  if (slice.owner() == mine || slice.owner() >> 32 != mine >> 32) [[likely]]
    return;
  fail(caller, fmt::format("the slice belongs to a tensor of rank {}; ranks share no memory on "
                           "real machines: send it, or make "
                           "the tensor on this rank",
                           (slice.owner() & 0xffffffff) - 1));
}

}  // namespace

ErrorContext Caller::context(int peer) const {
  return {rank->rank, operation, peer, place.file_name(), static_cast<int>(place.line())};
}

void check_member(const Caller& caller) {
  if (caller.group == nullptr) [[unlikely]] {
    fail(caller, "this rank is not part of the communicator (it split with a negative color)");
  }
}

void check_peer(const Caller& caller, int peer, const char* role) {
  if (peer < 0 || peer >= caller.group->size()) [[unlikely]] {
    fail(caller,
         fmt::format("{} {} does not exist: ranks are 0 to {} in a world of {}", role, peer,
                     caller.group->size() - 1, caller.group->size()),
         peer);
  }
}

void check_source(const Caller& caller, Slice slice) {
  check_not_null(caller, slice);
  check_owner(caller, slice);
}

void check_target(const Caller& caller, Slice slice) {
  check_source(caller, slice);
  if (slice.read_only()) [[unlikely]] {
    fail(caller, "the slice to be written is part of a const tensor");
  }
}

void check_disjoint(const Caller& caller, Slice out, Slice in) {
  const auto* out_begin = static_cast<const char*>(out.data());
  const auto* in_begin = static_cast<const char*>(in.data());
  if (out.bytes() > 0 && in.bytes() > 0 && out_begin < in_begin + in.bytes() &&
      in_begin < out_begin + out.bytes()) [[unlikely]] {
    fail(
        caller,
        "the slice that is sent and the one that is received overlap; receive into another tensor");
  }
}

void check_size(const Caller& caller, Slice slice, std::int64_t expected, const char* name,
                const char* formula) {
  if (slice.size() != expected) [[unlikely]] {
    fail(caller, fmt::format("{} has {} elements where {} = {} are needed", name, slice.size(),
                             formula, expected));
  }
}

void check_same_dtype(const Caller& caller, Slice a, Slice b) {
  if (a.dtype() != b.dtype()) [[unlikely]] {
    fail(caller, fmt::format("dtypes {} and {} differ", name_of(a.dtype()), name_of(b.dtype())));
  }
}

}  // namespace rankbox::sim
