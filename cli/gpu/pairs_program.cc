// gpu_pairs: copies data between all ordered pairs of GPUs, and compares what arrives with what was
// sent. Prints JSON.
//
//   gpu_pairs [MIB]     the size of each copy (64)
//
// Machines whose links translate addresses wrongly (PCIe access control, an IOMMU) deliver wrong
// bytes without an error.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "comm/errors.h"
#include "gpu/device/check.h"
#include "gpu/device/devices.h"

namespace rankbox::gpu {
namespace {

using Words = std::vector<std::uint64_t>;

constexpr int kDefaultMib = 64;

/// Memory of one GPU, with a stream.
class Buffer {
 public:
  Buffer(int device, std::size_t bytes) : device_(device) {
    check(cudaSetDevice(device), "cudaSetDevice");
    check(cudaMalloc(&data_, bytes), "cudaMalloc");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  }
  ~Buffer() {
    static_cast<void>(cudaSetDevice(device_));
    static_cast<void>(cudaStreamDestroy(stream_));
    static_cast<void>(cudaFree(data_));
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }
  cudaStream_t stream() const { return stream_; }

 private:
  int device_;
  void* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// Returns words that differ from each other, from pair to pair, and from GPU to GPU.
Words words_of(int from, int into, std::size_t count) {
  Words words(count);
  std::uint64_t state = (static_cast<std::uint64_t>(from) << 32) + static_cast<std::uint64_t>(into);
  for (std::uint64_t& word : words) {
    state += 0x9E3779B97F4A7C15U;
    word = (state ^ (state >> 31)) * 0xBF58476D1CE4E5B9U;
  }
  return words;
}

/// Copies and compares. Returns the pair's row.
nlohmann::json check_pair(int from, int into, std::size_t bytes) {
  const Words sent = words_of(from, into, bytes / sizeof(std::uint64_t));
  const Buffer source(from, bytes);
  const Buffer target(into, bytes);
  check(cudaMemcpy(source.data(), sent.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemset(target.data(), 0, bytes), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  double seconds = 0;
  for (int round = 0; round < 2; ++round) {  // the first is the warm-up
    const auto begin = std::chrono::steady_clock::now();
    check(cudaMemcpyPeerAsync(target.data(), into, source.data(), from, bytes, target.stream()),
          "cudaMemcpyPeerAsync");
    check(cudaStreamSynchronize(target.stream()), "cudaStreamSynchronize");
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  Words received(sent.size());
  check(cudaMemcpy(received.data(), target.data(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) wrong += sent[i] != received[i];
  return {{"from", from},
          {"into", into},
          {"wrong", wrong},
          {"bytes_per_second", static_cast<double>(bytes) / seconds}};
}

nlohmann::json check_pairs(int mib) {
  const int gpus = device_count();
  std::vector<int> all;
  for (int device = 0; device < gpus; ++device) all.push_back(device);
  for (const int device : all) {
    check(cudaSetDevice(device), "cudaSetDevice");
    enable_peer_access(all);
  }
  nlohmann::json pairs = nlohmann::json::array();
  for (const int from : all) {
    for (const int into : all) {
      if (from != into)
        pairs.push_back(check_pair(from, into, static_cast<std::size_t>(mib) << 20));
    }
  }
  return {{"pairs", pairs}};
}

}  // namespace
}  // namespace rankbox::gpu

int main(int argc, char** argv) {
  try {
    const int mib = argc < 2 ? rankbox::gpu::kDefaultMib : std::atoi(argv[1]);
    if (argc > 2 || mib < 1 || mib > 4096) {
      fmt::print(stderr, "usage: gpu_pairs [MIB], with MIB from 1 to 4096\n");
      return 2;
    }
    fmt::print("{}\n", rankbox::gpu::check_pairs(mib).dump());
    return 0;
  } catch (const rankbox::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
