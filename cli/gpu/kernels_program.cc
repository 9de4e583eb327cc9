// kernel_bench: compares the kernels with the GPU's own copy.
//
//   kernel_bench [--min 1M] [--max 1G] [--json]
//
// `bytes` is the size n of one float tensor; sizes grow by 4. Bandwidth counts every byte read or
// written once:
//
//   copy                cudaMemcpyAsync from tensor to tensor            2 n
//   fill                                                                 n
//   scale                                                                2 n
//   accumulate          SUM; both tensors begin at a 16-byte boundary    3 n
//   accumulate apart    `from` begins 4 bytes beyond one                 3 n
//   reduce_to_all of k  SUM of k tensors into all of them, in place      2 k n
//
// The time is that of one of many back-to-back launches, by the host's clock (bench/measure.h).
// `ratio` is relative to the copy of the same n. Tensors that fit into the L2 cache show the
// cache's speed; short ones show the launch overhead.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "bench/measure.h"
#include "gpu/device/devices.h"
#include "gpu/device/rank_device.h"
#include "gpu/kernels/kernels.h"

namespace rankbox::gpu {
namespace {

using nlohmann::json;
using Kind = SmallOperation::Kind;

constexpr double kDeadlineSeconds = 120;
constexpr std::size_t kMostTensors = 8;
constexpr DType kFloat = DType::kFloat32;

/// Tensors of one size: as many as fit, at most kMostTensors, a power of two.
class Tensors {
 public:
  Tensors(RankDevice& gpu, std::int64_t bytes) : gpu_(gpu) {
    gpu.synchronize(kDeadlineSeconds, {.op = "bench"});  // until earlier ones are released
    try {
      // 16 extra bytes, for what begins apart.
      while (all_.size() < kMostTensors) all_.push_back(gpu.allocate(bytes + 16));
    } catch (const OutOfMemory&) {
    }
    for (; (all_.size() & (all_.size() - 1)) != 0; all_.pop_back()) gpu.release(all_.back());
    for (void* const tensor : all_) {
      launch_change(Kind::kFill, tensor, bytes / 4 + 4, kFloat, small_value(kFloat, 1.0),
                    gpu.stream());
    }
  }
  ~Tensors() {
    for (void* const tensor : all_) gpu_.release(tensor);
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  void* const* data() const { return all_.data(); }
  std::size_t size() const { return all_.size(); }

 private:
  RankDevice& gpu_;
  std::vector<void*> all_;
};

/// Appends the rows of one size. Returns false if it does not fit into the GPU's memory.
bool measure(RankDevice& gpu, std::int64_t bytes, json& rows) {
  const Tensors tensors(gpu, bytes);
  if (tensors.size() < 2) return false;
  cudaStream_t const stream = gpu.stream();
  void* const a = tensors.data()[0];
  char* const b = static_cast<char*>(tensors.data()[1]);
  const std::int64_t count = bytes / 4;
  const auto until_done = [&gpu](double seconds) {
    const double begin = bench::now();
    gpu.synchronize(kDeadlineSeconds, {.op = "bench"});
    return seconds + bench::now() - begin;
  };
  double speed_of_copy = 0;
  const auto add = [&](const std::string& kernel, int accesses, std::function<void()> launch) {
    const double seconds = bench::seconds_per_call(launch, until_done);
    const double speed = static_cast<double>(accesses * bytes) / seconds;
    if (kernel == "copy") speed_of_copy = speed;
    rows.push_back({{"kernel", kernel},
                    {"bytes", bytes},
                    {"bytes_moved", accesses * bytes},
                    {"seconds", seconds},
                    {"bytes_per_second", speed},
                    {"ratio_to_copy", speed / speed_of_copy}});
  };
  add("copy", 2, [=] {
    check(cudaMemcpyAsync(a, b, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpyAsync", {.op = "copy", .bytes = bytes});
  });
  add("fill", 1,
      [=] { launch_change(Kind::kFill, a, count, kFloat, small_value(kFloat, 1.0), stream); });
  add("scale", 2,
      [=] { launch_change(Kind::kScale, a, count, kFloat, small_value(kFloat, 0.5), stream); });
  add("accumulate", 3, [=] { launch_accumulate(a, b, count, kFloat, ReduceOp::SUM, stream); });
  add("accumulate apart", 3,
      [=] { launch_accumulate(a, b + 4, count, kFloat, ReduceOp::SUM, stream); });
  for (int k = 2; k <= static_cast<int>(tensors.size()); k *= 2) {
    add(fmt::format("reduce_to_all of {}", k), 2 * k, [=, all = tensors.data()] {
      launch_reduce_to_all(all, k, all, k, count, kFloat, ReduceOp::SUM, 1, stream);
    });
  }
  return true;
}

void print_table(const json& rows) {
  fmt::print("{:>13}  {:<18} {:>12} {:>10} {:>7}\n", "bytes", "kernel", "time (us)", "GB/s",
             "ratio");
  for (const json& row : rows) {
    fmt::print("{:>13}  {:<18} {:>12.2f} {:>10.1f} {:>7.3f}\n", row["bytes"].get<std::int64_t>(),
               row["kernel"].get<std::string>(), row["seconds"].get<double>() * 1e6,
               row["bytes_per_second"].get<double>() / 1e9, row["ratio_to_copy"].get<double>());
  }
}

int run(int argc, char** argv) {
  std::uint64_t min_bytes = 1 << 20;
  std::uint64_t max_bytes = 1 << 30;
  bool as_json = false;
  CLI::App app("Compares Rankbox's kernels with the GPU's own copy.");
  const CLI::Range sizes(std::uint64_t{16}, std::uint64_t{1} << 40);
  app.add_option("--min", min_bytes, "smallest tensor, in bytes: 1M")
      ->transform(CLI::AsSizeValue(false))
      ->check(sizes);
  app.add_option("--max", max_bytes, "largest; sizes grow by 4: 1G")
      ->transform(CLI::AsSizeValue(false))
      ->check(sizes);
  app.add_flag("--json", as_json, "prints JSON");
  CLI11_PARSE(app, argc, argv);
  device_count();
  RankDevice gpu(0, 0);
  warm_kernels(gpu.stream());
  json rows = json::array();
  for (std::uint64_t size = min_bytes; size <= max_bytes; size *= 4) {
    if (measure(gpu, static_cast<std::int64_t>(size / 16 * 16), rows)) continue;
    fmt::print(stderr, "tensors of {} bytes do not fit into the GPU's memory\n", size);
    break;
  }
  if (as_json) {
    fmt::print("{}\n", json{{"results", rows}}.dump());
  } else {
    fmt::print("{}", describe_devices());
    print_table(rows);
  }
  return 0;
}

}  // namespace
}  // namespace rankbox::gpu

int main(int argc, char** argv) {
  try {
    return rankbox::gpu::run(argc, argv);
  } catch (const rankbox::Error& error) {
    fmt::print(stderr, "kernel_bench: {}\n", error.what());
    return 1;
  }
}
