// A rank's shard of some parameters: one of p equal pieces of all their elements.
//
// Parameters are laid out one after the other and padded with zeros until p divides their length;
// rank r has the r-th piece. A shard ignores where one parameter ends and the next begins.
//
//   weight (6 elements)   bias (4)   0 0                p = 4: 12 elements, 3 per rank
//   | 0 1 2 | 3 4 5 | 0 1 2 | 3 . . |
//     rank 0  rank 1  rank 2  rank 3
//
// An optimizer made for a shard (`Sgd optimizer({&shard.mine})`) has a shard's state: that is
// ZeRO's first stage.
//
//   Tensor flat = flat_for(shard, p);
//   pack_gradients(parameters, shard, flat);             // parameters → flat
//   dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);
//   …
//   dist.all_gather(shard.mine.value, flat);
//   unpack_values(flat, shard, parameters);              // flat → parameters
//
// Cost: none; packing copies in local memory.
// Errors: InvalidArgument for a flat tensor that is too small, or parameters that are not the
// shard's.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/tensor.h"
#include "training/parameter.h"

namespace rankbox {

struct Shard {
  std::vector<Shape> shapes;  // of the parameters, in their order, because they may have no values
  Parameter mine;             // value: [⌈elements of all / p⌉]; gradient: of it
};

/// ⌈elements / p⌉
std::int64_t shard_size(std::int64_t elements, int world_size);

/// The shard of these parameters' values; an empty one if there are none.
Shard make_shard(const std::vector<Parameter*>& parameters, int rank, int world_size);

/// For an optimizer: `mine` of the shards that have elements. The pointers are valid as long as the
/// shards are not moved.
std::vector<Parameter*> mine_of(std::vector<Shard>& shards);

/// A tensor with room for all shards, one after the other. Its elements are unspecified.
Tensor flat_for(const Shard& shard, int world_size);

/// Packs gradients, one after the other; with zeros for an empty one, and after the last.
void pack_gradients(const std::vector<Parameter*>& parameters, const Shard& shard, Tensor& flat);

/// Unpacks values. An empty one gets its own memory, in its shape.
void unpack_values(const Tensor& flat, const Shard& shard,
                   const std::vector<Parameter*>& parameters);

/// Free the memory of all values, or of all gradients.
void drop_gradients(const std::vector<Parameter*>& parameters);
void drop_values(const std::vector<Parameter*>& parameters);

}  // namespace rankbox
