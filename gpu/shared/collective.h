// A native collective among ranks that share GPUs: kernels and copies on the stream of the last
// rank.
//
// A reduction is one kernel that reads every input once and writes every output once. Data that
// kernels cannot reach, on another GPU without peer access, is copied in before and copied out
// afterwards.
//
// The caller provides the marks that order the stream with the other ranks' streams.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/reduce_op.h"
#include "comm/slice.h"
#include "gpu/shared/staging.h"
#include "gpu/shared/transit.h"
#include "sim/data_plane.h"

namespace rankbox::gpu {

class SharedCollective {
 public:
  /// @param mine the transit of the rank on this thread
  /// @param reachable devices whose memory its kernels can use
  SharedCollective(SharedStaging& staging, const sim::DataPlane::Transit& mine,
                   const std::vector<int>& reachable)
      : staging_(staging), mine_(mine), reachable_(reachable) {}

  /// Enqueues all the work on the stream. Called once.
  void enqueue(std::span<const sim::DataPlane::Part> parts);

  /// Returns the number of staging blocks in use until the work is done.
  int blocks() const { return static_cast<int>(blocks_.size()); }
  /// @param done follows the work, and has one user per block
  void give_back_blocks(SharedEvents::Mark* done) noexcept;

 private:
  /// A rank's slice and its device.
  struct Place {
    Slice slice;
    int device = -1;
  };

  Place in(int index) const;
  Place out(int index) const;
  bool reaches(const Place& place) const;
  void* take(std::int64_t bytes);
  void copy(void* into, const void* from, std::int64_t bytes);
  void copy(Slice into, Slice from);
  const void* brought(const Place& place);
  void reduce(const std::vector<Place>& inputs, const std::vector<Place>& outputs, ReduceOp op);
  void spread(const Place& from, const std::vector<Place>& outputs);
  void all_gather();

  SharedStaging& staging_;
  const sim::DataPlane::Transit& mine_;
  const std::vector<int>& reachable_;
  std::span<const sim::DataPlane::Part> parts_;
  std::vector<SharedStaging::Block> blocks_;
};

}  // namespace rankbox::gpu
