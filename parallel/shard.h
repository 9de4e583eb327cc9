// A rank's shard of some parameters: one piece of all their elements, and no more.
//
// Parameters are put one behind the other, with zeros at the end until p ranks can share them equally;
// rank r has the r-th piece. Where one parameter ends and the next begins is of no interest there.
//
//   weight (6 elements)   bias (4)   0 0                p = 4: 12 elements, 3 a rank
//   | 0 1 2 | 3 4 5 | 0 1 2 | 3 . . |
//     rank 0  rank 1  rank 2  rank 3
//
// An optimizer made for a shard (`Sgd optimizer({&shard.mine})`) has a shard's state: that is all of ZeRO's
// first stage.
//
//   Tensor flat = flat_for(shard, p);
//   pack_gradients(parameters, shard, flat);             // parameters → flat
//   dist.reduce_scatter(flat, gradient_of(shard.mine), ReduceOp::AVG);
//   …
//   dist.all_gather(shard.mine.value, flat);
//   unpack_values(flat, shard, parameters);              // flat → parameters
//
// Cost: none; packing copies in local memory.
// Errors: InvalidArgument for a flat tensor that is too small, or parameters that are not the shard's.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/tensor.h"
#include "training/parameter.h"

namespace rankbox {

struct Shard {
  std::vector<Shape> shapes;  // of the parameters, in their order: they may have no values to tell
  Parameter mine;             // value: [⌈elements of all / p⌉]; gradient: of it
};

/// ⌈elements / p⌉
std::int64_t shard_size(std::int64_t elements, int world_size);

/// Of these parameters' values; an empty one if there are none.
Shard make_shard(const std::vector<Parameter*>& parameters, int rank, int world_size);

/// What an optimizer takes: `mine` of those shards that have elements. The pointers hold as long as
/// the shards stay where they are.
std::vector<Parameter*> mine_of(std::vector<Shard>& shards);

/// Room for all shards, one behind the other. Its elements are not set.
Tensor flat_for(const Shard& shard, int world_size);

/// Gradients, one behind the other; zeros for one that is empty, and behind the last.
void pack_gradients(const std::vector<Parameter*>& parameters, const Shard& shard, Tensor& flat);

/// Values, the other way round. An empty one gets memory of its own, in its shape.
void unpack_values(const Tensor& flat, const Shard& shard,
                   const std::vector<Parameter*>& parameters);

/// Free their memory.
void drop_gradients(const std::vector<Parameter*>& parameters);
void drop_values(const std::vector<Parameter*>& parameters);

}  // namespace rankbox
