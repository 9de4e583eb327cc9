// Emulated devices: their properties and peer access.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>

#include "tests/gpu/emulation/cuda_call.h"
#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/cuda_memory.h"

namespace rankbox::gpu::emulation {
namespace {

// A small number, so that a kernel has few blocks: they run one after the other.
constexpr int kMultiProcessors = 2;

std::atomic<bool> peer_access_possible{true};

struct Peers {
  std::mutex mutex;
  std::set<std::pair<int, int>> enabled;   // (device, its peer)
  std::set<std::pair<int, int>> of_pools;  // (device, owner of the pool)
};

Peers& peers() {
  static auto* const all = new Peers;
  return *all;
}

bool exists(int device) { return device >= 0 && device < device_count(); }

}  // namespace

void set_peer_access(bool possible) {
  peer_access_possible = possible;
  if (possible) return;
  const std::lock_guard lock(peers().mutex);
  peers().enabled.clear();
}

bool pool_access_enabled(int device, int owner) {
  const std::lock_guard lock(peers().mutex);
  return peer_access_possible && peers().of_pools.contains({device, owner});
}

bool peer_access_enabled(int device, int peer) {
  const std::lock_guard lock(peers().mutex);
  return peers().enabled.contains({device, peer});
}

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&] {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = device_count();
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", device, [&] {
    if (!exists(device)) return cudaErrorInvalidDevice;
    current_device() = device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&] {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = current_device();
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device) {
  return call("cudaGetDeviceProperties", device, [&] {
    if (prop == nullptr) return cudaErrorInvalidValue;
    if (!exists(device)) return cudaErrorInvalidDevice;
    std::size_t free = 0;
    std::size_t total = 0;
    if (const cudaError_t error = cudaMemGetInfo(&free, &total); error != cudaSuccess) return error;
    *prop = {};
    std::snprintf(prop->name, sizeof prop->name, "emulated GPU (runs on the CPU)");
    prop->totalGlobalMem = total;
    prop->warpSize = 32;
    prop->maxThreadsPerBlock = 1024;
    prop->major = 9;
    prop->minor = 0;
    prop->multiProcessorCount = kMultiProcessors;
    prop->pciBusID = device + 1;
    prop->l2CacheSize = 1 << 20;
    prop->maxThreadsPerMultiProcessor = 2048;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, enum cudaDeviceAttr attr, int device) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return error;
  return call("cudaDeviceGetAttribute", device, [&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (attr) {
      case cudaDevAttrMaxThreadsPerBlock:
        *value = properties.maxThreadsPerBlock;
        return cudaSuccess;
      case cudaDevAttrWarpSize:
        *value = properties.warpSize;
        return cudaSuccess;
      case cudaDevAttrMultiProcessorCount:
        *value = properties.multiProcessorCount;
        return cudaSuccess;
      case cudaDevAttrMaxThreadsPerMultiProcessor:
        *value = properties.maxThreadsPerMultiProcessor;
        return cudaSuccess;
      case cudaDevAttrComputeCapabilityMajor:
        *value = properties.major;
        return cudaSuccess;
      case cudaDevAttrComputeCapabilityMinor:
        *value = properties.minor;
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* bus_id, int len, int device) {
  return call("cudaDeviceGetPCIBusId", device, [&] {
    if (bus_id == nullptr || len < 13) return cudaErrorInvalidValue;
    if (!exists(device)) return cudaErrorInvalidDevice;
    std::snprintf(bus_id, static_cast<std::size_t>(len), "0000:%02X:00.0",
                  static_cast<unsigned>(device + 1) & 0xffu);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* possible, int device, int peer) {
  return call("cudaDeviceCanAccessPeer", device, [&] {
    if (possible == nullptr) return cudaErrorInvalidValue;
    if (!exists(device) || !exists(peer)) return cudaErrorInvalidDevice;
    *possible = device != peer && peer_access_possible ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attr, int device, int peer) {
  if (attr == cudaDevP2PAttrAccessSupported) return cudaDeviceCanAccessPeer(value, device, peer);
  return call("cudaDeviceGetP2PAttribute", device, [&] {
    if (value == nullptr || attr != cudaDevP2PAttrNativeAtomicSupported)
      return cudaErrorInvalidValue;
    if (!exists(device) || !exists(peer) || device == peer) return cudaErrorInvalidDevice;
    *value = 0;  // as over PCIe: no link is emulated
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call("cudaDeviceEnablePeerAccess", [&] {
    const int device = current_device();
    if (!exists(peer) || peer == device) return cudaErrorInvalidDevice;
    if (flags != 0) return cudaErrorInvalidValue;
    if (!peer_access_possible) return cudaErrorPeerAccessUnsupported;
    const std::lock_guard lock(peers().mutex);
    return peers().enabled.emplace(device, peer).second ? cudaSuccess
                                                        : cudaErrorPeerAccessAlreadyEnabled;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* descs, size_t count) {
  return call("cudaMemPoolSetAccess", [&] {
    const int owner = device_of(pool);
    if (!exists(owner) || (descs == nullptr && count > 0)) return cudaErrorInvalidValue;
    const std::lock_guard lock(peers().mutex);
    for (size_t i = 0; i < count; ++i) {
      const int device = descs[i].location.id;
      if (descs[i].location.type != cudaMemLocationTypeDevice || !exists(device))
        return cudaErrorInvalidValue;
      if (device != owner && !peer_access_possible) return cudaErrorInvalidDevice;
      if (descs[i].flags == cudaMemAccessFlagsProtReadWrite) {
        peers().of_pools.emplace(device, owner);
      } else {
        peers().of_pools.erase({device, owner});
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return end_call(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return end_call(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function,
                                             unsigned int /*version*/, unsigned long long /*flags*/,
                                             enum cudaDriverEntryPointQueryResult* /*found*/) {
  if (std::string_view(symbol) != "cuModuleGetLoadingMode") return end_call(cudaErrorInvalidValue);
  constexpr auto kGet = [](int* mode) {
    const char* const said = std::getenv("CUDA_MODULE_LOADING");
    *mode = said != nullptr && std::string_view(said) == "EAGER" ? 1 : 2;
    return 0;
  };
  *function = reinterpret_cast<void*>(+kGet);
  return cudaSuccess;
}

}  // extern "C"

}  // namespace rankbox::gpu::emulation
