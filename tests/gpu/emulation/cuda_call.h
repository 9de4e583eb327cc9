// What every emulated function of the CUDA runtime begins and ends with.
#pragma once

#include <cuda_runtime_api.h>

namespace rankbox::gpu::emulation {

/// The thread's current device.
int& current_device();

/// How many there are: set_device_count(), else RANKBOX_EMULATED_GPUS, else 1.
int device_count();

/// What broke it, or cudaSuccess.
cudaError_t health_of(int device);

/// Set while a function of cudaLaunchHostFunc runs on this thread: it must not call CUDA.
bool& inside_host_function();

/// Counts the call; the error it has to end with before it began, if any: what a test ordered, no
/// device, a broken one.
cudaError_t begin_call(const char* function, int device);

/// Remembers an error as the thread's last, and returns it.
cudaError_t end_call(cudaError_t result);

/// The thread's last error; taking it forgets it.
cudaError_t take_last_error();
cudaError_t peek_last_error();

/// body() with the two around it.
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
