// reshard: a matrix goes from one layout on the ranks to another, and no rank holds all of it.
//
// Weights that were sharded by rows for training are wanted by columns for tensor parallelism, or a
// run of 2 x 4 ranks goes on with 4 x 2. Both layouts are known to all ranks (MeshLayout), so every
// rank can compute who needs what of whom. No counts have to travel. PyTorch: DTensor's
// redistribute; the same plan loads a checkpoint on another number of ranks.
//
//   4 x 4, p = 4     before: {Replicate, Shard(0)}      after: {Replicate, Shard(1)}
//                    rank 0   a0 a1 a2 a3               a0   a1   a2   a3
//                    rank 1   b0 b1 b2 b3               b0   b1   b2   b3
//                    rank 2   c0 c1 c2 c3               c0   c1   c2   c3
//                    rank 3   d0 d1 d2 d3               d0   d1   d2   d3
//                                                    rank 0    1    2    3
//   rank 0 sends     a1 to rank 1, a2 to rank 2, a3 to rank 3; a0 stays
//
// Each element that a rank needs comes from one rank: the nearest of those that hold it, by the
// distance of their numbers; of two, the lower one. That may be the rank itself: nothing is sent
// that is there already.
//
// Build on region_of, intersection, pack_part, unpack_part (mesh_layout.h), and one
// dist.all_to_all_v, which every rank calls, also where nothing travels.
//
// Cost: one native all_to_all_v, where a rank sends what others take from it, and receives what it
// needs and does not hold. From rows to columns of n elements that is (p-1)/p² n; an all-gather of
// the matrix would be (p-1)/p n.
// Memory: the output, what is packed to be sent and what is received, each at most once for each
// rank that takes it, and the ranks' regions. Where both layouts shard, no rank holds the matrix.
// When it returns, only the output stays.
// Blocks: until all ranks have called it.
// Difficulty 3/5. Importance 3/5.
// Paper: Xu et al., GSPMD: general and scalable parallelization for ML computation graphs, 2021.
#pragma once

#include <cstdint>

#include "comm/comm.h"
#include "parallel/mesh_layout.h"

namespace rankbox {

/// `output` becomes this rank's region of the matrix in the layout `to`, whatever it was before.
///
/// @param mine this rank's region in the layout `from`, [rows, columns] of that region. It stays as
/// it is
/// @param rows of the whole matrix, as `columns`
/// REQUIRES: every rank calls it with the same layouts, whose meshes have world_size() ranks, and
/// the same rows and columns; replicas are equal.
/// Errors: InvalidArgument, from pack_part, if `mine` has not the size of its region.
void reshard(Comm& dist, const Tensor& mine, const MeshLayout& from, const MeshLayout& to,
             std::int64_t rows, std::int64_t columns, Tensor& output);

}  // namespace rankbox
