// The checked arguments of one rank's call of a native collective, for all backends.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "comm/call_checks.h"
#include "comm/collective_kind.h"
#include "comm/reduce_op.h"
#include "comm/slice.h"

namespace rankbox {

struct CollectiveCall {
  CollectiveKind kind = CollectiveKind::kBarrier;
  int root = -1;  // index in the communicator; -1 for collectives without a root
  ReduceOp op = ReduceOp::SUM;
  bool reduces = false;
  DType dtype = DType::kFloat32;
  std::int64_t count = 0;  // elements that all ranks must agree on; -1: none
  Slice in;                // null where a rank sends nothing,
  Slice out;               // or receives nothing
  // The sizes of the pieces of `in` and `out`, by rank; empty: chunk(). The caller's memory.
  std::span<const std::int64_t> in_counts;
  std::span<const std::int64_t> out_counts;
  int color = 0;  // split
  int key = 0;
};

/// The pieces of a slice, one a rank, in rank order.
class Pieces {
 public:
  /// @param counts their sizes; empty: they are chunk(whole, i, ranks)
  Pieces(Slice whole, std::span<const std::int64_t> counts, int ranks)
      : whole_(whole), counts_(counts), ranks_(ranks) {}
  /// Returns the piece of the next rank, from rank 0 on.
  Slice next() {
    const std::int64_t begin = begin_;
    begin_ = counts_.empty() ? (next_ + 1) * whole_.size() / ranks_
                             : begin + counts_[static_cast<std::size_t>(next_)];
    ++next_;
    return whole_.sub(begin, begin_);
  }

 private:
  Slice whole_;
  std::span<const std::int64_t> counts_;
  std::int64_t ranks_;
  std::int64_t next_ = 0;
  std::int64_t begin_ = 0;
};

/// One function per collective, for the blocking and the asynchronous form. Each throws
/// InvalidArgument, as comm/communicator.h says.
CollectiveCall barrier_call();
CollectiveCall broadcast_call(const Caller& caller, Slice slice, int src);
CollectiveCall reduce_call(const Caller& caller, Slice slice, int dst, ReduceOp op);
CollectiveCall all_reduce_call(const Caller& caller, Slice slice, ReduceOp op);
CollectiveCall gather_call(const Caller& caller, Slice slice, Slice gathered, int dst);
CollectiveCall all_gather_call(const Caller& caller, Slice slice, Slice gathered);
CollectiveCall scatter_call(const Caller& caller, Slice whole, Slice slice, int src);
CollectiveCall reduce_scatter_call(const Caller& caller, Slice slice, Slice piece, ReduceOp op);
CollectiveCall all_to_all_call(const Caller& caller, Slice input, Slice output);
CollectiveCall gather_v_call(const Caller& caller, Slice slice, Slice gathered,
                             std::span<const std::int64_t> counts, int dst);
CollectiveCall all_gather_v_call(const Caller& caller, Slice slice, Slice gathered,
                                 std::span<const std::int64_t> counts);
CollectiveCall scatter_v_call(const Caller& caller, Slice whole,
                              std::span<const std::int64_t> counts, Slice slice, int src);
CollectiveCall all_to_all_v_call(const Caller& caller, Slice input,
                                 std::span<const std::int64_t> send_counts, Slice output,
                                 std::span<const std::int64_t> receive_counts);
CollectiveCall split_call(int color, int key);

/// Returns the slice that the rank with this index writes to; null if it only reads.
Slice written_by(const CollectiveCall& call, int index);

/// Returns "root, size": the arguments in which two ranks' calls differ; empty if they agree.
std::string differences(const CollectiveCall& a, const CollectiveCall& b);

/// Returns "rank 1 calls reduce(root 0, op SUM, 4 float32) at ring.cc:12", for mismatch errors.
/// @param root the root's rank in the world
std::string in_words(const CollectiveCall& call, int rank, int root, const char* file, int line);

inline std::string in_words(const CollectiveCall& call, int rank, int root, Place place) {
  return in_words(call, rank, root, place.file_name(), static_cast<int>(place.line()));
}

}  // namespace rankbox
