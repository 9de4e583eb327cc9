// ddp_buckets: gradients that are sent together share their latency.
//
// A model has hundreds of small gradients (a bias, a norm's scale), and an all-reduce of a few
// bytes costs hardly less than one of a thousand times as many. So gradients are copied into
// buckets, one after the other, each bucket is all-reduced as one flat tensor, and they are copied
// back.
//
// Buckets begin with the last parameter and end with the first: backward reaches the last layers
// first, so theirs is the first bucket that could be sent while backward continues. (ddp_overlap
// does that.) A bucket takes gradients until the next one would make it larger than bucket_bytes. A
// larger gradient gets its own bucket.
//
//   bucket_bytes = 24        layer0.weight   layer0.bias   layer1.weight   layer1.bias
//   bytes                    32              8             16              8
//   bucket 0                                               ------- 24 -----------
//   bucket 1                                 8             (8 + 32 would be more than 24)
//   bucket 2                 32
//
// If buckets are too small, the latencies are back; if they are too large, nothing is left to
// overlap. PyTorch's default is 25 MiB, and with it 1 MiB for the first bucket. There, a bucket
// closes once it has reached the cap, so it may exceed it. Unless
// find_unused_parameters is set, the first step has one bucket, and its order of readiness decides
// the order from then on.
//
// A gradient may be empty on one rank and not on another: it counts as zeros, and has its place in
// the bucket all the same. Which gradients share a bucket must depend only on sizes, because all
// ranks have to agree on it.
//
// Build on dist.all_reduce, once for each bucket.
//
// Cost: the native all-reduce of every bucket, one after the other. Copies are local, and free in
// virtual time.
// Memory: one bucket besides the gradients, if each is sent before the next one is filled.
// Blocks: until all ranks have called it.
// Difficulty 2/5. Importance 4/5.
// Paper: Li et al., PyTorch Distributed: experiences on accelerating data parallel training, VLDB
// 2020, section 3.2.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/comm.h"
#include "training/parameter.h"

namespace rankbox {

/// The gradients of all parameters become their means over the ranks, an empty one counting as
/// zeros, and have the shapes of the values. What is not finite shows in the mean. Values are
/// unchanged.
///
/// REQUIRES: every rank calls it with parameters of the same sizes in the same order, and with the
/// same bucket_bytes >= 1.
/// Errors: CollectiveMismatch if the buckets differ.
void ddp_buckets(Comm& dist, const std::vector<Parameter*>& parameters, std::int64_t bucket_bytes);

}  // namespace rankbox
