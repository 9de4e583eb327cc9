// A native collective among ranks that share GPUs: kernels and copies on the stream of the last
// rank's GPU.
//
// A reduction is one kernel that reads every input once and writes every output once. Data that
// kernels cannot reach, on another GPU without peer access, is copied in before and copied out
// afterwards.
//
// The caller orders the stream with those of the other GPUs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "comm/reduce_op.h"
#include "comm/slice.h"
#include "gpu/device/shared_stream.h"
#include "sim/data_plane.h"

namespace rankbox::gpu {

class SharedCollective {
 public:
  /// @param reachable devices whose memory its kernels can use
  SharedCollective(SharedStream& stream, const std::vector<int>& reachable)
      : stream_(stream), reachable_(reachable) {}
  ~SharedCollective();
  SharedCollective(const SharedCollective&) = delete;
  SharedCollective& operator=(const SharedCollective&) = delete;

  /// Enqueues all the work on the stream. Called once. REQUIRES: the stream is flushed.
  void enqueue(std::span<const sim::DataPlane::Part> parts);

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
  void copy(void* into, int into_device, const void* from, int from_device, std::int64_t bytes);
  void copy(const Place& into, const Place& from);
  const void* brought(const Place& place);
  void reduce(const std::vector<Place>& inputs, const std::vector<Place>& outputs, ReduceOp op);
  void spread(const Place& from, const std::vector<Place>& outputs);
  void all_gather();
  void all_to_all();

  SharedStream& stream_;
  const std::vector<int>& reachable_;
  std::span<const sim::DataPlane::Part> parts_;
  std::vector<void*> blocks_;  // for intermediate results
};

}  // namespace rankbox::gpu
