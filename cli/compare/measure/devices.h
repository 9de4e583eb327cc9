// The ranks' devices: the lines under "# Using devices".
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "comm/comm.h"

namespace rankbox::cli {

/// The device of one rank.
struct Device {
  std::string host;
  std::int32_t process = 0;       // its id there
  std::int32_t number = 0;        // of the device, on that host
  std::string bus;                // identifies the device, unlike its number; "cpu": the host
  std::string name;               // "NVIDIA H200"
  std::int64_t memory_bytes = 0;  // shared by all its ranks
  std::int64_t ranks = 1;         // on it; set by gather_devices()

  bool operator==(const Device&) const = default;
};

inline auto fields_of(Device& device) {
  return std::tie(device.host, device.process, device.number, device.bus, device.name,
                  device.memory_bytes, device.ranks);
}

/// Returns the host as the device of ranks that are threads or processes.
Device host_device();

/// Returns all ranks' devices, in rank order, on every rank. A collective. Memory: 0.5 KB for each
/// rank, on each rank.
std::vector<Device> gather_devices(Comm& dist, Device mine);

/// Returns the ranks of each shared device, ordered by the first of them.
std::vector<std::vector<int>> sharing_ranks(const std::vector<Device>& devices);

/// Returns the bytes of a rank's pool of inputs, or outputs (buffer_pool.h): those of the largest
/// row, and at least a rank's share of what caches cannot hold: 128 MiB per device.
std::int64_t pool_bytes(const Device& mine, std::int64_t largest_bytes);

/// Throws InvalidArgument if the devices cannot hold both pools for rows of this size, and as much
/// as the largest row for the algorithm, per rank.
void check_memory(const std::vector<Device>& devices, std::int64_t largest_bytes);

/// Returns a compact list of ranks: "0-3" or "0,2,5".
std::string in_words(const std::vector<int>& ranks);

}  // namespace rankbox::cli
