#include "comm/call_checks.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "comm/communicator.h"
#include "comm/memory_meter.h"
#include "comm/ownership.h"

namespace rankbox {
namespace {

void check_not_null(const Caller& caller, Slice slice) {
  if (slice.is_null()) [[unlikely]] {
    refuse(caller, "the slice is null; pass a tensor, or chunk() of one");
  }
}

void check_owner(const Caller& caller, Slice slice) {
  const int owner = foreign_owner(caller.owner, slice);
  if (owner >= 0) [[unlikely]] {
    refuse(caller, fmt::format("the slice belongs to a tensor of rank {}; ranks share no memory on "
                               "real machines: send it, or make the tensor on this rank",
                               owner));
  }
}

}  // namespace

ErrorContext Caller::context(int peer) const {
  return {rank, operation, peer, place.file_name(), static_cast<int>(place.line())};
}

void refuse(const Caller& caller, const std::string& problem) {
  const bool is_renumbered = caller.index >= 0 && caller.index != caller.rank;
  throw InvalidArgument(
      fmt::format("rank {}{}, {} at {}:{}: {}", caller.rank,
                  is_renumbered ? fmt::format(" (rank {} in this communicator)", caller.index) : "",
                  caller.operation, caller.place.file_name(), caller.place.line(), problem),
      caller.context());
}

void check_member(const Caller& caller) {
  if (caller.size == 0) [[unlikely]] {
    refuse(caller, "this rank is not part of the communicator (it split with a negative color)");
  }
}

void check_thread(const Caller& caller) {
  const MemoryMeter* const meter = current_memory_meter();
  if (meter != nullptr && meter->owner == caller.owner) [[likely]]
    return;
  refuse(caller,
         "called on another thread than the rank's own, or on another rank's; a communicator "
         "belongs to the one thread that runs its rank, and MPI and NCCL may break otherwise");
}

void check_peer(const Caller& caller, int peer, const char* role) {
  if (peer < 0 || peer >= caller.size) [[unlikely]] {
    const char* hint = peer == -1 ? "; before rank 0 on a ring: (rank + p - 1) % p, with p ranks"
                       : peer == caller.size
                           ? "; after the last on a ring: (rank + 1) % p, with p ranks"
                           : "";
    refuse(caller, fmt::format("{} {} does not exist: this communicator has ranks 0 to {}{}", role,
                               peer, caller.size - 1, hint));
  }
}

void check_message_peer(const Caller& caller, int peer, const char* role) {
  if (peer != kNoRank) check_peer(caller, peer, role);
}

void check_source(const Caller& caller, Slice slice) {
  check_not_null(caller, slice);
  check_owner(caller, slice);
}

void check_target(const Caller& caller, Slice slice) {
  check_source(caller, slice);
  if (slice.read_only()) [[unlikely]] {
    const bool is_sendrecv = std::string_view(caller.operation) == "sendrecv";
    refuse(caller,
           fmt::format("the slice to be written is part of a const tensor, which has to stay as it "
                       "is; give another tensor{}",
                       is_sendrecv ? " (the order is: out, dst, in, src)" : ""));
  }
}

void check_disjoint(const Caller& caller, Slice out, Slice in) {
  if (overlap(out, in)) [[unlikely]] {
    refuse(caller,
           "the slice that is sent and the one that is received overlap; receive into another "
           "tensor");
  }
}

void check_not_in_use(const Caller& caller, Slice read, Slice written) {
  current_memory_meter()->in_use.check(caller, read, written);
}

void check_in_place(const Caller& caller, Slice part, Slice whole, std::int64_t begin) {
  const bool is_there = static_cast<const char*>(part.data()) ==
                        static_cast<const char*>(whole.data()) + begin * size_of(whole.dtype());
  if (overlap(part, whole) && !is_there) [[unlikely]] {
    refuse(caller,
           fmt::format("the two slices overlap, but not in place: the small one would have to "
                       "begin at element {} of the large one; use another tensor",
                       begin));
  }
}

void check_size(const Caller& caller, Slice slice, std::int64_t expected, const char* name,
                const char* formula) {
  if (slice.size() != expected) [[unlikely]] {
    refuse(caller, fmt::format("{} has {} elements where {} = {} are needed", name, slice.size(),
                               formula, expected));
  }
}

void check_op(const Caller& caller, ReduceOp op, DType dtype) {
  if (op != ReduceOp::AVG) return;
  if (dtype == DType::kBool) refuse(caller, "bools have no average; use uint8, or SUM for \"any\"");
  if (dtype == DType::kUInt8 && caller.size > 255)
    refuse(caller, fmt::format("a uint8 cannot be divided by {} ranks; use int32", caller.size));
}

void check_same_dtype(const Caller& caller, Slice a, Slice b) {
  if (a.dtype() != b.dtype()) [[unlikely]] {
    refuse(caller, fmt::format("dtypes {} and {} differ", name_of(a.dtype()), name_of(b.dtype())));
  }
}

int check_group(const Caller& caller, std::span<const int> ranks) {
  int index = -1;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    check_peer(caller, ranks[i], "member");
    if (std::find(ranks.begin(), ranks.begin() + static_cast<std::ptrdiff_t>(i), ranks[i]) !=
        ranks.begin() + static_cast<std::ptrdiff_t>(i)) {
      refuse(caller, fmt::format("rank {} is named twice", ranks[i]));
    }
    if (ranks[i] == caller.index) index = static_cast<int>(i);
  }
  return index;
}

void check_group_made(const Caller& caller, std::span<const int> ranks, int index, int size) {
  const bool is_same = size == static_cast<int>(ranks.size()) &&
                       ranks[static_cast<std::size_t>(index)] == caller.index;
  if (is_same) return;
  refuse(caller, fmt::format("this rank named {} ranks, itself as number {}, but {} ranks joined, "
                             "and it is number {} of them; all ranks must name the same ones, in "
                             "the same order",
                             ranks.size(),
                             std::find(ranks.begin(), ranks.end(), caller.index) - ranks.begin(),
                             size, index));
}

void refuse_foreign_request(const Caller& caller, int its_rank) {
  refuse(caller, fmt::format("the request belongs to rank {}, and only that rank can wait for it",
                             its_rank));
}

void check_seconds(const Caller& caller, double seconds) {
  if (!(seconds >= 0) || std::isinf(seconds)) {
    refuse(caller, fmt::format("{} seconds cannot be spent; 0 or more are needed", seconds));
  }
}

}  // namespace rankbox
