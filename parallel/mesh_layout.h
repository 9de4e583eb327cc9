// Where the elements of a matrix lie on a mesh of ranks, in the words of PyTorch's DTensor.
//
// Ranks form a mesh of two dimensions: rank = i · mesh[1] + j. Each dimension has a placement.
// Along it, ranks hold the same elements (Replicate), or parts of the rows (Shard(0)) or of the
// columns (Shard(1)).
//
//   mesh {2, 2}      {Shard(0), Shard(1)}     {Replicate, Shard(0)}     {Shard(0), Shard(0)}
//                    rank 0   rank 1          ranks 0 and 2             ranks 0, 1, 2, 3,
//                    rank 2   rank 3          ranks 1 and 3             one below the other
//
// A dim of n elements is cut into p parts [n·k/p, n·(k+1)/p), as chunk() does; some are empty where
// n < p. (DTensor's parts have ⌈n/p⌉ elements, but for the last ones.) Where both dimensions of the
// mesh shard the same dim, the second cuts each part of the first.
//
// Cost: none; packing copies in local memory. Thread safety: like any value.
#pragma once

#include <array>
#include <cstdint>

#include "comm/tensor.h"

namespace rankbox {

enum class Placement : std::int32_t {
  kReplicate,
  kShard0,  // Shard(0): rows
  kShard1,  // Shard(1): columns
};

struct MeshLayout {
  std::array<int, 2> mesh = {1, 1};  // their product is the world size
  std::array<Placement, 2> placements = {Placement::kReplicate, Placement::kReplicate};
};

/// Rows and columns of a matrix, from the first to before the last.
struct Region {
  std::int64_t first_row = 0;
  std::int64_t last_row = 0;
  std::int64_t first_column = 0;
  std::int64_t last_column = 0;

  std::int64_t rows() const { return last_row - first_row; }
  std::int64_t columns() const { return last_column - first_column; }
  std::int64_t elements() const { return rows() * columns(); }
  bool operator==(const Region&) const = default;
};

/// What a rank holds of a matrix of that many rows and columns. Two ranks' regions have no element
/// in common, or are equal.
Region region_of(const MeshLayout& layout, int rank, std::int64_t rows, std::int64_t columns);

/// What both contain; without elements, {} if that is nothing.
Region intersection(const Region& a, const Region& b);

/// Copies a part of a region, row by row, from the tensor that holds the region.
/// Errors: InvalidArgument unless the region contains the part, and the sizes match.
void pack_part(const Tensor& tensor, const Region& region, const Region& part, Slice packed);

/// And back.
void unpack_part(Slice packed, const Region& part, Tensor& tensor, const Region& region);

}  // namespace rankbox
