// The tensors of a row on one rank: sizes, inputs and expected results.
#pragma once

#include <cstdint>

#include "comm/collective_kind.h"
#include "comm/comm.h"

namespace rankbox::cli {

/// The two tensors of a collective.
struct Buffers {
  Tensor input;   // in place for broadcast, reduce, all_reduce
  Tensor output;  // of the other collectives
};

/// What one rank does in one row.
struct RankPart {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  int rank = 0;
  int world_size = 1;
  std::int64_t elements = 0;  // see elements_of()
  ReduceOp op = ReduceOp::SUM;
  int root = 0;
};

/// Returns the elements of one row, counted as nccl-tests do: those of a rank's tensor. If the
/// tensor has a piece per rank, those of all pieces, rounded down to a multiple of world_size. At
/// least one element per rank; 0 for a barrier.
std::int64_t elements_of(CollectiveKind collective, int world_size, std::int64_t bytes);

/// Returns a rank's buffers, of zeros.
Buffers make_buffers(const RankPart& part);

/// Fills the input with pseudo-random whole numbers, the same in every run, which differ between
/// ranks and elements; for PRODUCT, with powers of two. Every reduction of them is exact, in any
/// order. They have as many random bits as that allows. Needs little memory on the host.
void fill_input(Buffers& buffers, const RankPart& part);

/// Returns the number of elements of a rank's result that differ from the collective of all ranks'
/// fill_input(). Any bit counts, except that an average may be rounded on every rank. NaN differs.
std::int64_t count_wrong(const Buffers& buffers, const RankPart& part);

}  // namespace rankbox::cli
