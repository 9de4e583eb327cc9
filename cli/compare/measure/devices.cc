#include "cli/compare/measure/devices.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/support/lists.h"
#include "cli/support/machine_memory.h"
#include "comm/result_bytes.h"

namespace rankbox::cli {
namespace {

// The size of a rank's description in 32-bit numbers, which every backend can gather.
constexpr std::size_t kWords = 128;
constexpr std::size_t kLongestText = 120;

// More than the caches of most GPUs hold. Small devices spare less.
constexpr std::int64_t kUncachedBytes = std::int64_t{128} << 20;
constexpr std::int64_t kLargestShare = 8;  // of the memory

}  // namespace

Device host_device() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') name = {'?'};
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return {.host = name.data(),
          .process = static_cast<std::int32_t>(getpid()),
          .number = 0,
          .bus = "cpu",
          .name = fmt::format("{} core{}", cores, cores == 1 ? "" : "s"),
          .memory_bytes = machine_memory_bytes()};
}

std::vector<Device> gather_devices(Comm& dist, Device mine) {
  mine.host.resize(std::min(mine.host.size(), kLongestText));
  mine.bus.resize(std::min(mine.bus.size(), kLongestText));
  mine.name.resize(std::min(mine.name.size(), kLongestText));
  ByteWriter writer;
  writer.put(mine);
  std::vector<std::int32_t> words(kWords);
  std::memcpy(words.data(), writer.bytes.data(), writer.bytes.size());

  const auto world_size = static_cast<std::size_t>(dist.world_size());
  TensorOf<std::int32_t> gathered(Shape(kWords * world_size));
  dist.all_gather(from_host(words), gathered);
  const std::vector<std::int32_t> all = to_host(gathered);
  std::vector<Device> devices;
  for (std::size_t rank = 0; rank < world_size; ++rank) {
    const char* bytes = reinterpret_cast<const char*>(all.data() + rank * kWords);
    ByteReader reader({bytes, kWords * sizeof(std::int32_t)});
    devices.push_back(reader.next<Device>());
  }
  for (const std::vector<int>& ranks : sharing_ranks(devices)) {
    for (const int rank : ranks)
      devices[static_cast<std::size_t>(rank)].ranks = static_cast<std::int64_t>(ranks.size());
  }
  return devices;
}

std::vector<std::vector<int>> sharing_ranks(const std::vector<Device>& devices) {
  std::map<std::pair<std::string, std::string>, std::vector<int>> by_device;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    by_device[{devices[rank].host, devices[rank].bus}].push_back(static_cast<int>(rank));
  }
  std::vector<std::vector<int>> groups;
  for (auto& [device, ranks] : by_device) {
    if (ranks.size() > 1) groups.push_back(std::move(ranks));
  }
  std::sort(groups.begin(), groups.end());
  return groups;
}

std::int64_t pool_bytes(const Device& mine, std::int64_t largest_bytes) {
  return std::max(largest_bytes,
                  std::min(kUncachedBytes, mine.memory_bytes / kLargestShare) / mine.ranks);
}

void check_memory(const std::vector<Device>& devices, std::int64_t largest_bytes) {
  for (const Device& device : devices) {
    const std::int64_t needed =
        device.ranks * (2 * pool_bytes(device, largest_bytes) + largest_bytes);
    if (needed <= device.memory_bytes) continue;
    throw InvalidArgument(fmt::format(
        "{} do not fit: three tensors of that size on each rank of {} ({}) are more than its {}: "
        "use a smaller -e or fewer ranks",
        format_bytes(largest_bytes), device.host, device.name, format_bytes(device.memory_bytes)));
  }
}

std::string in_words(const std::vector<int>& ranks) {
  std::string words;
  for (std::size_t begin = 0; begin < ranks.size();) {
    std::size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    words += words.empty() ? "" : ",";
    words += end - begin > 1 ? fmt::format("{}-{}", ranks[begin], ranks[end - 1])
                             : std::to_string(ranks[begin]);
    begin = end;
  }
  return words;
}

}  // namespace rankbox::cli
