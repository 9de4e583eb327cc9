#include "comm/collective_call.h"

#include <numeric>

#include <fmt/format.h>

namespace rankbox {
namespace {

/// Returns a collective in which every rank has `in`, and `out` where it gets a result. All ranks
/// must agree on the element count of `agreed`.
CollectiveCall make_call(CollectiveKind kind, Slice in, Slice out, Slice agreed) {
  CollectiveCall call;
  call.kind = kind;
  call.in = in;
  call.out = out;
  call.dtype = agreed.dtype();
  call.count = agreed.size();
  return call;
}

/// The sizes of a slice's pieces, as a call names them.
struct Counts {
  std::span<const std::int64_t> of;
  const char* name;
};

/// Throws InvalidArgument unless there is a size for each rank, and together they are the slice's.
void check_counts(const Caller& caller, Counts counts, Slice slice, const char* slice_name) {
  if (counts.of.size() != static_cast<std::size_t>(caller.size)) {
    refuse(caller, fmt::format("{} has {} numbers where world_size = {} are needed, one for each "
                               "rank",
                               counts.name, counts.of.size(), caller.size));
  }
  for (std::size_t rank = 0; rank < counts.of.size(); ++rank) {
    if (counts.of[rank] >= 0 && counts.of[rank] <= slice.size()) continue;
    refuse(caller, fmt::format("{}[{}] is {}; 0 to {} elements are needed, which {} has",
                               counts.name, rank, counts.of[rank], slice.size(), slice_name));
  }
  check_size(caller, slice, std::accumulate(counts.of.begin(), counts.of.end(), std::int64_t{0}),
             slice_name, fmt::format("the sum of {}", counts.name).c_str());
}

/// Throws InvalidArgument unless `piece` is as long as this rank's count, and shares no memory with
/// `whole`, or is in its place there.
void check_own_piece(const Caller& caller, Slice piece, Counts counts, Slice whole) {
  const auto index = static_cast<std::ptrdiff_t>(caller.index);
  check_size(caller, piece, counts.of[static_cast<std::size_t>(index)], "slice",
             fmt::format("{}[rank]", counts.name).c_str());
  check_in_place(caller, piece, whole,
                 std::accumulate(counts.of.begin(), counts.of.begin() + index, std::int64_t{0}));
}

/// Returns a collective of pieces. What ranks agree on is compared when all have called.
CollectiveCall make_v_call(CollectiveKind kind, Slice in, std::span<const std::int64_t> in_counts,
                           Slice out, std::span<const std::int64_t> out_counts, DType dtype) {
  CollectiveCall call = make_call(kind, in, out, Slice());
  call.dtype = dtype;
  call.count = -1;
  call.in_counts = in_counts;
  call.out_counts = out_counts;
  return call;
}

}  // namespace

CollectiveCall barrier_call() {
  return make_call(CollectiveKind::kBarrier, Slice(), Slice(), Slice());
}

CollectiveCall broadcast_call(const Caller& caller, Slice slice, int src) {
  check_peer(caller, src, "source");
  caller.index == src ? check_source(caller, slice) : check_target(caller, slice);
  CollectiveCall call = make_call(CollectiveKind::kBroadcast, slice, slice, slice);
  call.root = src;
  return call;
}

CollectiveCall reduce_call(const Caller& caller, Slice slice, int dst, ReduceOp op) {
  check_peer(caller, dst, "destination");
  caller.index == dst ? check_target(caller, slice) : check_source(caller, slice);
  check_op(caller, op, slice.dtype());
  CollectiveCall call = make_call(CollectiveKind::kReduce, slice, slice, slice);
  call.root = dst;
  call.op = op;
  call.reduces = true;
  return call;
}

CollectiveCall all_reduce_call(const Caller& caller, Slice slice, ReduceOp op) {
  check_target(caller, slice);
  check_op(caller, op, slice.dtype());
  CollectiveCall call = make_call(CollectiveKind::kAllReduce, slice, slice, slice);
  call.op = op;
  call.reduces = true;
  return call;
}

CollectiveCall gather_call(const Caller& caller, Slice slice, Slice gathered, int dst) {
  check_peer(caller, dst, "destination");
  check_source(caller, slice);
  if (caller.index == dst) {
    check_target(caller, gathered);
    check_same_dtype(caller, slice, gathered);
    check_size(caller, gathered, slice.size() * caller.size, "gathered", "world_size x N");
    check_in_place(caller, slice, gathered, caller.index * slice.size());
  }
  CollectiveCall call =
      make_call(CollectiveKind::kGather, slice, caller.index == dst ? gathered : Slice(), slice);
  call.root = dst;
  return call;
}

CollectiveCall all_gather_call(const Caller& caller, Slice slice, Slice gathered) {
  check_source(caller, slice);
  check_target(caller, gathered);
  check_same_dtype(caller, slice, gathered);
  check_size(caller, slice, chunk(gathered, caller.index, caller.size).size(), "slice",
             "chunk(gathered, rank, world_size).size()");
  check_in_place(caller, slice, gathered, caller.index * gathered.size() / caller.size);
  return make_call(CollectiveKind::kAllGather, slice, gathered, gathered);
}

CollectiveCall scatter_call(const Caller& caller, Slice whole, Slice slice, int src) {
  check_peer(caller, src, "source");
  check_target(caller, slice);
  if (caller.index == src) {
    check_source(caller, whole);
    check_same_dtype(caller, whole, slice);
    check_size(caller, whole, slice.size() * caller.size, "whole", "world_size x N");
    check_in_place(caller, slice, whole, caller.index * slice.size());
  }
  CollectiveCall call =
      make_call(CollectiveKind::kScatter, caller.index == src ? whole : Slice(), slice, slice);
  call.root = src;
  return call;
}

CollectiveCall reduce_scatter_call(const Caller& caller, Slice slice, Slice piece, ReduceOp op) {
  check_source(caller, slice);
  check_target(caller, piece);
  check_same_dtype(caller, slice, piece);
  check_op(caller, op, slice.dtype());
  const int p = caller.size;
  check_size(caller, piece, chunk(slice, caller.index, p).size(), "piece",
             "chunk(slice, rank, world_size).size()");
  check_in_place(caller, piece, slice, caller.index * slice.size() / p);
  CollectiveCall call = make_call(CollectiveKind::kReduceScatter, slice, piece, slice);
  call.op = op;
  call.reduces = true;
  return call;
}

CollectiveCall all_to_all_call(const Caller& caller, Slice input, Slice output) {
  check_source(caller, input);
  check_target(caller, output);
  check_same_dtype(caller, input, output);
  check_disjoint(caller, input, output);
  check_size(caller, output, chunk(input, caller.index, caller.size).size() * caller.size, "output",
             "world_size x chunk(input, rank, world_size).size()");
  return make_call(CollectiveKind::kAllToAll, input, output, input);
}

CollectiveCall gather_v_call(const Caller& caller, Slice slice, Slice gathered,
                             std::span<const std::int64_t> counts, int dst) {
  check_peer(caller, dst, "destination");
  check_source(caller, slice);
  const bool receives = caller.index == dst;
  if (receives) {
    check_target(caller, gathered);
    check_same_dtype(caller, slice, gathered);
    check_counts(caller, {counts, "counts"}, gathered, "gathered");
    check_own_piece(caller, slice, {counts, "counts"}, gathered);
  }
  CollectiveCall call =
      make_v_call(CollectiveKind::kGatherV, slice, {}, receives ? gathered : Slice(),
                  receives ? counts : std::span<const std::int64_t>(), slice.dtype());
  call.root = dst;
  return call;
}

CollectiveCall all_gather_v_call(const Caller& caller, Slice slice, Slice gathered,
                                 std::span<const std::int64_t> counts) {
  check_source(caller, slice);
  check_target(caller, gathered);
  check_same_dtype(caller, slice, gathered);
  check_counts(caller, {counts, "counts"}, gathered, "gathered");
  check_own_piece(caller, slice, {counts, "counts"}, gathered);
  CollectiveCall call =
      make_v_call(CollectiveKind::kAllGatherV, slice, {}, gathered, counts, slice.dtype());
  call.count = gathered.size();
  return call;
}

CollectiveCall scatter_v_call(const Caller& caller, Slice whole,
                              std::span<const std::int64_t> counts, Slice slice, int src) {
  check_peer(caller, src, "source");
  check_target(caller, slice);
  const bool sends = caller.index == src;
  if (sends) {
    check_source(caller, whole);
    check_same_dtype(caller, whole, slice);
    check_counts(caller, {counts, "counts"}, whole, "whole");
    check_own_piece(caller, slice, {counts, "counts"}, whole);
  }
  CollectiveCall call =
      make_v_call(CollectiveKind::kScatterV, sends ? whole : Slice(),
                  sends ? counts : std::span<const std::int64_t>(), slice, {}, slice.dtype());
  call.root = src;
  return call;
}

CollectiveCall all_to_all_v_call(const Caller& caller, Slice input,
                                 std::span<const std::int64_t> send_counts, Slice output,
                                 std::span<const std::int64_t> receive_counts) {
  check_source(caller, input);
  check_target(caller, output);
  check_same_dtype(caller, input, output);
  check_disjoint(caller, input, output);
  check_counts(caller, {send_counts, "send_counts"}, input, "input");
  check_counts(caller, {receive_counts, "receive_counts"}, output, "output");
  const auto index = static_cast<std::size_t>(caller.index);
  if (send_counts[index] != receive_counts[index]) {
    refuse(caller, fmt::format("send_counts[rank] is {}, but receive_counts[rank] is {}: what this "
                               "rank sends to itself is what it receives from itself",
                               send_counts[index], receive_counts[index]));
  }
  return make_v_call(CollectiveKind::kAllToAllV, input, send_counts, output, receive_counts,
                     input.dtype());
}

CollectiveCall split_call(int color, int key) {
  CollectiveCall call = make_call(CollectiveKind::kSplit, Slice(), Slice(), Slice());
  call.color = color;
  call.key = key;
  return call;
}

Slice written_by(const CollectiveCall& call, int index) {
  const bool only_reads = (call.kind == CollectiveKind::kBroadcast && call.root == index) ||
                          (call.kind == CollectiveKind::kReduce && call.root != index);
  return only_reads ? Slice() : call.out;
}

std::string differences(const CollectiveCall& a, const CollectiveCall& b) {
  if (a.kind != b.kind) return "collective";
  std::string fields;
  if (a.root != b.root) fields += "root, ";
  if (a.op != b.op) fields += "op, ";
  if (a.count != b.count) fields += "size, ";
  if (a.dtype != b.dtype) fields += "dtype, ";
  if (!fields.empty()) fields.resize(fields.size() - 2);
  return fields;
}

std::string in_words(const CollectiveCall& call, int rank, int root, const char* file, int line) {
  std::string arguments;
  if (call.root >= 0) arguments += fmt::format("root {}, ", root);
  if (call.reduces) arguments += fmt::format("op {}, ", name_of(call.op));
  if (moves_data(call.kind)) {
    const bool is_result = with_equal_pieces(call.kind) == CollectiveKind::kAllGather;
    arguments += call.count < 0 ? fmt::format("{}, ", name_of(call.dtype))
                                : fmt::format("{} {}{}, ", call.count, name_of(call.dtype),
                                              is_result ? " gathered" : "");
  }
  if (!arguments.empty()) arguments.resize(arguments.size() - 2);
  return fmt::format("rank {} calls {}({}) at {}:{}", rank, name_of(call.kind), arguments, file,
                     line);
}

}  // namespace rankbox
