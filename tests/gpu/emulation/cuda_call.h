// The common beginning and end of every emulated CUDA function.
#pragma once

#include <cuda_runtime_api.h>

namespace rankbox::gpu::emulation {

/// The thread's current device.
int& current_device();

/// Returns the device count: set_device_count(), else RANKBOX_EMULATED_GPUS, else 1.
int device_count();

/// Returns the error that broke the device, or cudaSuccess.
cudaError_t health_of(int device);

/// Set while a function of cudaLaunchHostFunc runs on this thread: it must not call CUDA.
bool& inside_host_function();

/// Counts the call. Returns the error that it must end with before it begins, if any: one that a
/// test injected, no device, or a broken device.
cudaError_t begin_call(const char* function, int device);

/// Remembers an error as the thread's last, and returns it.
cudaError_t end_call(cudaError_t result);

/// Returns the thread's last error and clears it.
cudaError_t take_last_error();
cudaError_t peek_last_error();

/// Calls body() between the two.
template <class Body>
cudaError_t call(const char* function, int device, Body body) {
  const cudaError_t refused = begin_call(function, device);
  return end_call(refused != cudaSuccess ? refused : body());
}
template <class Body>
cudaError_t call(const char* function, Body body) {
  return call(function, current_device(), body);
}

}  // namespace rankbox::gpu::emulation
