// The machine's GPUs, and the reason if there are none.
//
// Thread safety: any thread. The thread's current device does not change, except in
// enable_peer_access. Errors: CudaError, whose message ends with the fix.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankbox::gpu {

/// Returns at least 1. Throws CudaError if there is no GPU or driver, or the driver is too old for
/// this build.
///
/// REQUIRES: no earlier CUDA call. It sets the variables that CUDA reads when it starts
/// (CUDA_MODULE_LOADING, CUDA_DEVICE_MAX_CONNECTIONS), unless they are set.
int device_count();

/// Returns why there is no GPU to run on, in one line; "" if there is one. For tests and reports
/// that continue without a GPU.
std::string why_no_device();

struct DeviceInfo {
  int device = -1;
  std::string name;    // "NVIDIA H200"
  std::string bus_id;  // "0000:1B:00.0": the same in every process for the same GPU
  std::int64_t memory_bytes = 0;
  int sm = 0;  // compute capability: 90 is 9.0
  int multiprocessors = 0;
};
DeviceInfo device_info(int device);

/// Return "13.0": the CUDA version of this machine's driver, and of this program's runtime; "none"
/// without a driver. Never throw: the messages of check() include them.
std::string driver_version();
std::string runtime_version();

/// Makes a device the thread's current one while it lives.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) noexcept;
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// Returns the device that holds the memory, or `usual` if none does.
int device_holding(const void* memory, int usual);

/// Returns when CUDA loads kernels: "eager" at its start, as device_count() requests, "lazy" at
/// their first launch, "unknown" if the driver does not report it.
std::string kernel_loading();

/// Returns one line per GPU and one for the versions, for reports and errors; without a GPU, the
/// reason. Never throws.
std::string describe_devices();

/// Returns whether kernels and copies of one device can use the other's memory. Each can use its
/// own.
bool can_access(int device, int peer);

/// The links between GPUs, as CUDA reports them, counted in ordered pairs of different GPUs.
struct LinkCounts {
  int pairs = 0;
  int with_peer_access = 0;     // one can access the other's memory
  int with_native_atomics = 0;  // and the link has atomic operations: NVLink has, PCIe does not
};
LinkCounts count_links();

/// Enables direct access from kernels and copies of the current device to the others' memory.
/// Returns those that it can reach, itself included: copies to and from others go through the host.
/// Idempotent.
std::vector<int> enable_peer_access(const std::vector<int>& devices);

}  // namespace rankbox::gpu
