// Every CUDA call goes through check(): what fails throws, and says who was doing what.
//
//   check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync",
//         {.op = "send", .peer = dst, .bytes = bytes, .place = place});
//
//   rank 2, send to 3 of 4096 bytes: cudaMemcpyAsync failed: cudaErrorIllegalAddress, an illegal
//   memory access was encountered [ring.cc:17]; hint: ...
//
// Cost of a call that succeeds: one comparison. Thread safety: all of it may be used by any thread.
#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime_api.h>

#include "comm/errors.h"
#include "comm/place.h"

namespace rankbox::gpu {

/// What a rank was doing when a call failed. Everything may be left out; light, so that it can be
/// passed at every call.
struct Doing {
  const char* op = "";  // "all_reduce"
  int peer = -1;        // the other rank, or the root
  std::int64_t bytes = -1;
  Place place{};
  int rank = -1;  // -1: that of current_rank_device(), if there is one
};

/// "rank 2, send to 3 of 4096 bytes: ", as far as it is known; the beginning of every message of
/// this folder.
std::string in_words(const Doing& doing);
/// " [ring.cc:17]", or nothing: the end of it.
std::string place_in_words(const Doing& doing);
/// The same as data, for an Error.
ErrorContext context_of(const Doing& doing);

/// A call of the CUDA runtime failed. Memory that ran out is OutOfMemory instead.
class CudaError : public Error {
 public:
  CudaError(const std::string& message, ErrorContext context, cudaError_t code)
      : Error(message, std::move(context)), code_(code) {}

  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

[[noreturn]] void throw_cuda_error(cudaError_t status, const char* call, const Doing& doing);

/// @param status what the call returned
/// @param call its name, "cudaMalloc"
/// Throws OutOfMemory for cudaErrorMemoryAllocation, CudaError for every other failure; the
/// thread's last error is cleared then.
inline void check(cudaError_t status, const char* call, const Doing& doing = {}) {
  if (status != cudaSuccess) [[unlikely]] {
    throw_cuda_error(status, call, doing);
  }
}

/// The way out of this error, "" if none is known: what a message's hint is.
std::string hint_for(cudaError_t status);

}  // namespace rankbox::gpu
