// Device memory between ranks that share GPUs: copies of buffered sends, and a collective's
// intermediate results.
//
// A rank's own allocator does not fit: another rank releases such a block, on another stream,
// perhaps after the rank that allocated it has returned. So blocks belong to the run, and a
// released block carries the mark after which it is unused. The stream of its next user waits for
// that mark.
//
// Cost: an uncontended lock and a search in a map; cudaMalloc the first time. Thread safety: any
// thread, with the device as its current one. Errors: CudaError, OutOfMemory.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "gpu/shared/events.h"

namespace rankbox::gpu {

class SharedStaging {
 public:
  struct Block {
    void* data = nullptr;
    std::int64_t bytes = 0;  // of its size class
    int device = -1;
  };

  /// @param events outlives this
  explicit SharedStaging(SharedEvents& events) : events_(events) {}
  /// Frees all blocks. REQUIRES: all streams have finished, or were abandoned.
  ~SharedStaging();
  SharedStaging(const SharedStaging&) = delete;
  SharedStaging& operator=(const SharedStaging&) = delete;

  /// Forgets all blocks without freeing them, for the end of a run that hangs.
  void abandon() noexcept { all_.clear(); }

  /// Returns a block of at least this many bytes, for later work on the stream. Null data for 0
  /// bytes.
  Block take(std::int64_t bytes, cudaStream_t stream, int device);

  /// @param after a user's share of the mark; null: no stream uses the block
  void give_back(const Block& block, SharedEvents::Mark* after) noexcept;

 private:
  struct Unused {
    Block block;
    SharedEvents::Mark* after = nullptr;
  };

  SharedEvents& events_;
  std::mutex lock_;  // guards the rest
  std::vector<void*> all_;
  std::map<std::pair<int, std::int64_t>, std::vector<Unused>> unused_;  // by device and bytes
};

}  // namespace rankbox::gpu
