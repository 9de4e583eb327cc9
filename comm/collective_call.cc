#include "comm/collective_call.h"

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
  CollectiveCall call = make_call(CollectiveKind::kReduce, slice, slice, slice);
  call.root = dst;
  call.op = op;
  call.reduces = true;
  return call;
}

CollectiveCall all_reduce_call(const Caller& caller, Slice slice, ReduceOp op) {
  check_target(caller, slice);
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
  check_size(caller, gathered, slice.size() * caller.size, "gathered", "world_size x N");
  check_in_place(caller, slice, gathered, caller.index * slice.size());
  return make_call(CollectiveKind::kAllGather, slice, gathered, slice);
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
  if (call.kind != CollectiveKind::kBarrier && call.kind != CollectiveKind::kSplit) {
    arguments += fmt::format("{} {}, ", call.count, name_of(call.dtype));
  }
  if (!arguments.empty()) arguments.resize(arguments.size() - 2);
  return fmt::format("rank {} calls {}({}) at {}:{}", rank, name_of(call.kind), arguments, file,
                     line);
}

}  // namespace rankbox
