#include "gpu/device/devices.h"

#include <array>
#include <cstdlib>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "gpu/device/check.h"

namespace rankbox::gpu {
namespace {

std::string version_in_words(int version) {
  return version == 0 ? "none" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

/// Sets CUDA's start variables, unless the environment sets them.
void prepare_cuda() {
  // Loads kernels when the program starts. Loading one later waits for the device, which may be in
  // a receive from a rank that has yet to load.
  setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
  // The maximum number of queues: streams that share one would wait for each other.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
}

}  // namespace

int device_count() {
  static const bool prepared = (prepare_cuda(), true);
  static_cast<void>(prepared);
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount", {.op = "looking for GPUs"});
  // The runtime reports "no device" as an error; if it does not, the caller must not divide by 0.
  if (count == 0) check(cudaErrorNoDevice, "cudaGetDeviceCount", {.op = "looking for GPUs"});
  return count;
}

std::string why_no_device() {
  try {
    device_count();
    return "";
  } catch (const CudaError& error) {
    return error.what();
  }
}

DeviceInfo device_info(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
  std::array<char, 32> bus_id{};
  check(cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()), device),
        "cudaDeviceGetPCIBusId");
  DeviceInfo info;
  info.device = device;
  info.name = properties.name;
  info.bus_id = bus_id.data();
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.sm = 10 * properties.major + properties.minor;
  info.multiprocessors = properties.multiProcessorCount;
  return info;
}

DeviceGuard::DeviceGuard(int device) noexcept {
  static_cast<void>(cudaGetDevice(&before_));
  changed_ = device != before_;
  if (changed_) static_cast<void>(cudaSetDevice(device));
}

DeviceGuard::~DeviceGuard() {
  if (changed_) static_cast<void>(cudaSetDevice(before_));
}

int device_holding(const void* memory, int usual) {
  cudaPointerAttributes attributes = {};
  check(cudaPointerGetAttributes(&attributes, memory), "cudaPointerGetAttributes");
  return attributes.type == cudaMemoryTypeDevice ? attributes.device : usual;
}

std::string driver_version() {
  int version = 0;
  cudaDriverGetVersion(&version);
  return version_in_words(version);
}

std::string runtime_version() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return version_in_words(version);
}

std::string kernel_loading() {
  device_count();  // sets the variable
  constexpr const char* kName = "cuModuleGetLoadingMode";
  void* found = nullptr;
#if CUDART_VERSION >= 12050
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(kName, &found, 11070, cudaEnableDefault, nullptr);
#else
  const cudaError_t status = cudaGetDriverEntryPoint(kName, &found, cudaEnableDefault);
#endif
  int mode = 0;
  if (status != cudaSuccess || found == nullptr || reinterpret_cast<int (*)(int*)>(found)(&mode)) {
    static_cast<void>(cudaGetLastError());
    return "unknown";
  }
  return mode == 1 ? "eager" : "lazy";  // as in CUmoduleLoadingMode
}

std::string describe_devices() {
  try {
    std::string lines;
    const int count = device_count();
    for (int device = 0; device < count; ++device) {
      const DeviceInfo info = device_info(device);
      lines += fmt::format("GPU {}: {}, {:.1f} GiB, sm_{}, {} multiprocessors, bus {}\n", device,
                           info.name, static_cast<double>(info.memory_bytes) / 0x1p30, info.sm,
                           info.multiprocessors, info.bus_id);
    }
    return lines +
           fmt::format("CUDA: driver for {}, runtime {}\n", driver_version(), runtime_version());
  } catch (const Error& error) {
    return fmt::format("no GPU: {}\n", error.what());
  }
}

bool can_access(int device, int peer) {
  if (device == peer) return true;
  int possible = 0;
  check(cudaDeviceCanAccessPeer(&possible, device, peer), "cudaDeviceCanAccessPeer");
  return possible != 0;
}

LinkCounts count_links() {
  LinkCounts links;
  const int count = device_count();
  for (int device = 0; device < count; ++device) {
    for (int peer = 0; peer < count; ++peer) {
      if (peer == device) continue;
      const auto has = [&](cudaDeviceP2PAttr attribute) {
        int value = 0;
        check(cudaDeviceGetP2PAttribute(&value, attribute, device, peer),
              "cudaDeviceGetP2PAttribute");
        return value != 0 ? 1 : 0;
      };
      ++links.pairs;
      links.with_peer_access += has(cudaDevP2PAttrAccessSupported);
      links.with_native_atomics += has(cudaDevP2PAttrNativeAtomicSupported);
    }
  }
  return links;
}

std::vector<int> enable_peer_access(const std::vector<int>& devices) {
  int here = 0;
  check(cudaGetDevice(&here), "cudaGetDevice");
  std::vector<int> in_reach;
  for (const int peer : devices) {
    if (!can_access(here, peer)) continue;
    in_reach.push_back(peer);
    if (peer == here) continue;
    const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
    if (status == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();
    } else {
      check(status, "cudaDeviceEnablePeerAccess");
    }
  }
  return in_reach;
}

}  // namespace rankbox::gpu
