// What can be compared: every topology of the course, and the native collective that it stands
// beside.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/collective_kind.h"
#include "comm/comm.h"

namespace rankbox::cli {

/// The two tensors of a collective, sized for one rank of one row.
struct Buffers {
  Tensor input;   // in place for broadcast, reduce, all_reduce
  Tensor output;  // of the others
};

/// What a call may need to know beyond its buffers.
struct CallSettings {
  ReduceOp op = ReduceOp::SUM;
  int segments = 1;  // of the pipelined ring
  int root = 0;
};

/// One way to do one collective.
struct Algorithm {
  CollectiveKind collective;
  std::string_view name;  // "native", "ring", …: the function's name without that of the collective
  void (*call)(Comm& dist, Buffers& buffers, const CallSettings& settings);
};

/// All of one collective, the native one first.
std::vector<Algorithm> algorithms_of(CollectiveKind collective);

/// The collectives that can be compared, in the order of the course.
std::span<const CollectiveKind> compared_collectives();

bool is_reducing(CollectiveKind collective);

/// Whether one rank is special: the source, or the destination.
bool has_root(CollectiveKind collective);

/// Whether the result overwrites the input, as the signatures of the course have it: broadcast,
/// reduce and all_reduce.
bool is_in_place(CollectiveKind collective);

/// Sizes of one row. `elements` is what nccl-tests call the size: of a rank's tensor; of all pieces
/// together for gather, all_gather and scatter, rounded down to a multiple of world_size, but to no
/// less than one element per rank; 0 for a barrier.
std::int64_t elements_of(CollectiveKind collective, int world_size, std::int64_t bytes);

/// The buffers of a rank, the same value everywhere: for taking times.
Buffers make_buffers(CollectiveKind collective, int rank, int world_size, std::int64_t elements,
                     float value, int root = 0);

/// Fills the input with numbers that differ between ranks and elements, and with which every
/// reduction is exact, in any order and for up to 65,536 ranks. Needs little memory on the host.
void fill_input(CollectiveKind collective, Buffers& buffers, int rank, ReduceOp op);

/// Elements of a rank's result that differ from what the collective of all ranks' fill_input() must
/// give: in any bit, but that an average may be rounded on every rank. NaN differs.
std::int64_t count_wrong(CollectiveKind collective, const Buffers& buffers, int rank,
                         int world_size, std::int64_t elements, ReduceOp op, int root = 0);

/// nccl-tests' factor between a collective's bytes per second and those that cross each rank's
/// link.
double bus_factor(CollectiveKind collective, int world_size);

}  // namespace rankbox::cli
