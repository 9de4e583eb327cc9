// Checked CUDA calls: check() throws on failure, and names the rank and its operation.
//
//   check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "cudaMemcpyAsync",
//         {.op = "send", .peer = dst, .bytes = bytes, .place = place});
//
//   rank 2, send to 3 of 4096 bytes: cudaMemcpyAsync failed: cudaErrorIllegalAddress, an illegal
//   memory access was encountered [ring.cc:17]; hint: ...
//
// Cost of a call that succeeds: one comparison. Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime_api.h>

#include "comm/errors.h"
#include "comm/place.h"

namespace rankbox::gpu {

/// The operation of a rank whose call failed. All fields are optional; the struct is cheap to pass
/// to every call.
struct Doing {
  const char* op = "";  // "all_reduce"
  int peer = -1;        // the other rank, or the root
  std::int64_t bytes = -1;
  Place place{};
  int rank = -1;  // -1: the rank of current_rank_device(), if there is one
};

/// Returns "rank 2, send to 3 of 4096 bytes: ", with the known fields only. Every message of this
/// folder begins with it.
std::string in_words(const Doing& doing);
/// Returns " [ring.cc:17]", the end of a message, or "".
std::string place_in_words(const Doing& doing);
/// Returns the same fields as data, for an Error.
ErrorContext context_of(const Doing& doing);

/// A CUDA runtime call failed. Running out of memory is OutOfMemory instead.
class CudaError : public Error {
 public:
  CudaError(const std::string& message, ErrorContext context, cudaError_t code)
      : Error(message, std::move(context)), code_(code) {}

  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

[[noreturn]] void throw_cuda_error(cudaError_t status, const char* call, const Doing& doing);

/// @param status the call's result
/// @param call its name, "cudaMalloc"
/// Throws OutOfMemory for cudaErrorMemoryAllocation, and CudaError for every other failure, after
/// clearing the thread's last error.
inline void check(cudaError_t status, const char* call, const Doing& doing = {}) {
  if (status != cudaSuccess) [[unlikely]] {
    throw_cuda_error(status, call, doing);
  }
}

/// For the status of a query: returns whether it is not cudaErrorNotReady. Throws as check().
bool is_done(cudaError_t status, const char* call, const Doing& doing = {});

/// Return an event without times, and a stream that waits for no other, of the current device.
cudaEvent_t make_event(const Doing& doing);
cudaStream_t make_stream(const Doing& doing);

/// Returns the fix for this error, the hint of a message; "" if none is known.
std::string hint_for(cudaError_t status);

}  // namespace rankbox::gpu
