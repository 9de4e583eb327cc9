// Which GPUs this machine has, and why it has none.
//
// Thread safety: any thread; the thread's current device stays what it is, except for
// enable_peer_access. Errors: CudaError, whose message says what to do about it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankbox::gpu {

/// At least 1. Throws CudaError if there is no GPU, no driver, or one too old for this build.
///
/// To be called before all else of CUDA: it sets the variables that CUDA reads when it starts
/// (CUDA_MODULE_LOADING, CUDA_DEVICE_MAX_CONNECTIONS), unless they are set.
int device_count();

/// Why there is no GPU to run on, in one line; "" if there is one. For tests and reports that go on
/// without.
std::string why_no_device();

struct DeviceInfo {
  int device = -1;
  std::string name;    // "NVIDIA H200"
  std::string bus_id;  // "0000:1B:00.0": the same GPU has the same one in every process
  std::int64_t memory_bytes = 0;
  int sm = 0;  // compute capability: 90 is 9.0
  int multiprocessors = 0;
};
DeviceInfo device_info(int device);

/// "13.0": of CUDA's driver on this machine, and of the runtime in this program.
std::string driver_version();
std::string runtime_version();

/// A line for each GPU and one for the versions, for reports and errors. Never throws: without
/// a GPU it says why.
std::string describe_devices();

/// Lets kernels and copies of the current device reach the others' memory directly. Returns those
/// that it cannot reach: copies to and from them go through the host. Idempotent.
std::vector<int> enable_peer_access(const std::vector<int>& devices);

}  // namespace rankbox::gpu
