// The ranks' devices: the lines under "# Using devices".
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "comm/comm.h"

namespace rankbox::cli {

/// What one rank runs on.
struct Device {
  std::string host;
  std::int32_t process = 0;       // its id there
  std::int32_t number = 0;        // of the device, on that host
  std::string bus;                // identifies the device, unlike its number; "cpu": the host
  std::string name;               // "NVIDIA H200"
  std::int64_t memory_bytes = 0;  // for all ranks on it together

  bool operator==(const Device&) const = default;
};

inline auto fields_of(Device& device) {
  return std::tie(device.host, device.process, device.number, device.bus, device.name,
                  device.memory_bytes);
}

/// Gathers all ranks' devices, in rank order, on every rank. A collective.
std::vector<Device> gather_devices(Comm& dist, Device mine);

/// The ranks of each device that several ranks share, ordered by the first of them.
std::vector<std::vector<int>> sharing_ranks(const std::vector<Device>& devices);

/// Throws InvalidArgument if buffers of so many bytes cannot fit where the ranks are: input,
/// output, and as much for the algorithm, on each of them.
void check_memory(const std::vector<Device>& devices, std::int64_t largest_bytes);

/// "0-3" or "0,2,5": a compact list of ranks.
std::string in_words(const std::vector<int>& ranks);

}  // namespace rankbox::cli
