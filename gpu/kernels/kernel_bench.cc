// Benchmark of the kernels against the GPU's own copy; requires a GPU.
//
//   kernel_bench [--device 0] [--min 1M] [--max 1G] [--repeats 21] [--json FILE|-]
//
// `bytes` is the size n of one float tensor. Bandwidth counts every byte read or written once:
//
//   copy           cudaMemcpyAsync from tensor to tensor            2 n
//   fill                                                            n
//   scale                                                           2 n
//   accumulate     SUM; both tensors begin at a 16-byte boundary    3 n
//   ... apart      `from` begins 4 bytes beyond one                 3 n
//   reduce_to_all  SUM of k tensors into all of them, in place      2 k n
//
// A sample is a run of back-to-back launches between two events that lasts 2 ms. The time is that
// of one launch, the median over the samples. `ratio` is relative to the copy of the same n.
// Tensors that fit into the L2 cache show the cache's speed; short ones show the launch overhead.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "files/output_file.h"
#include "gpu/device/devices.h"
#include "gpu/device/rank_device.h"
#include "gpu/kernels/kernels.h"

namespace rankbox::gpu {
namespace {

constexpr double kSampleSeconds = 2e-3;
constexpr double kDeadlineSeconds = 120;
constexpr int kMostTensors = 8;

struct Options {
  int device = 0;
  std::uint64_t min_bytes = 1 << 20;
  std::uint64_t max_bytes = 1 << 30;
  int repeats = 21;
  std::string json;
};

struct Result {
  std::string kernel;
  int tensors = 0;  // reduce_to_all's k
  std::int64_t bytes = 0;
  std::int64_t moved = 0;
  double seconds = 0;
  double best_seconds = 0;
  double ratio_to_copy = 0;

  double bandwidth() const { return static_cast<double>(moved) / seconds; }
};

/// Measures on one device with tensors of one size.
class Bench {
 public:
  Bench(RankDevice& gpu, std::int64_t bytes, int tensors, int repeats)
      : gpu_(gpu), bytes_(bytes), repeats_(repeats) {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
    for (int k = 0; k < tensors; ++k) {
      // 16 extra bytes, for the tensors that begin apart.
      tensors_.push_back(gpu.allocate(bytes + 16));
      launch_fill(tensors_.back(), count() + 4, DType::kFloat32, 1.0, gpu.stream());
    }
  }
  ~Bench() {
    for (void* const tensor : tensors_) gpu_.release(tensor);
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  std::vector<Result> run() {
    const auto stream = gpu_.stream();
    constexpr DType kFloat = DType::kFloat32;
    std::vector<Result> results;
    results.push_back(measure("copy", 2, [=, this] {
      check(cudaMemcpyAsync(tensors_[0], tensors_[1], static_cast<std::size_t>(bytes_),
                            cudaMemcpyDeviceToDevice, stream),
            "cudaMemcpyAsync", {.op = "copy", .bytes = bytes_});
    }));
    results.push_back(
        measure("fill", 1, [=, this] { launch_fill(tensors_[0], count(), kFloat, 1.0, stream); }));
    results.push_back(measure(
        "scale", 2, [=, this] { launch_scale(tensors_[0], count(), kFloat, 0.5, stream); }));
    results.push_back(measure("accumulate", 3, [=, this] {
      launch_accumulate(tensors_[0], tensors_[1], count(), kFloat, ReduceOp::SUM, stream);
    }));
    results.push_back(measure("accumulate apart", 3, [=, this] {
      launch_accumulate(tensors_[0], static_cast<char*>(tensors_[1]) + 4, count(), kFloat,
                        ReduceOp::SUM, stream);
    }));
    for (int k = 2; k <= static_cast<int>(tensors_.size()); k *= 2) {
      results.push_back(measure("reduce_to_all", 2 * k, [=, this] {
        void* const* const data = reinterpret_cast<void* const*>(tensors_.data());
        launch_reduce_to_all(data, k, data, k, count(), kFloat, ReduceOp::SUM, 1, stream);
      }));
      results.back().tensors = k;
    }
    for (Result& result : results) {
      result.ratio_to_copy = result.bandwidth() / results.front().bandwidth();
    }
    return results;
  }

 private:
  std::int64_t count() const { return bytes_ / 4; }

  /// @param accesses how often the n bytes are read or written
  Result measure(const std::string& name, int accesses, const std::function<void()>& launch) {
    // 1. Find how many launches make a sample; this is also the warm-up.
    int launches = 1;
    while (seconds_of(launches, launch) < kSampleSeconds && launches < 1 << 16) launches *= 2;

    // 2. Measure.
    std::vector<double> samples;
    for (int sample = 0; sample < repeats_; ++sample) {
      samples.push_back(seconds_of(launches, launch) / launches);
    }
    std::sort(samples.begin(), samples.end());
    Result result;
    result.kernel = name;
    result.bytes = bytes_;
    result.moved = accesses * bytes_;
    result.seconds = samples[samples.size() / 2];
    result.best_seconds = samples.front();
    return result;
  }

  double seconds_of(int launches, const std::function<void()>& launch) {
    check(cudaEventRecord(begin_, gpu_.stream()), "cudaEventRecord");
    for (int i = 0; i < launches; ++i) launch();
    check(cudaEventRecord(end_, gpu_.stream()), "cudaEventRecord");
    gpu_.synchronize(kDeadlineSeconds, {.op = "bench"});
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_, end_), "cudaEventElapsedTime");
    return static_cast<double>(ms) * 1e-3;
  }

  RankDevice& gpu_;
  std::int64_t bytes_;
  int repeats_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  std::vector<void*> tensors_;
};

/// Returns how many tensors of this size fit, at most kMostTensors: a power of two, or 0.
int tensors_that_fit(std::int64_t bytes) {
  cudaMemPool_t pool = nullptr;
  int device = 0;
  check(cudaGetDevice(&device), "cudaGetDevice");
  check(cudaDeviceGetDefaultMemPool(&pool, device), "cudaDeviceGetDefaultMemPool");
  check(cudaMemPoolTrimTo(pool, 0), "cudaMemPoolTrimTo");
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  for (int tensors = kMostTensors; tensors >= 2; tensors /= 2) {
    if (static_cast<double>(bytes) * tensors * 1.15 < static_cast<double>(free)) return tensors;
  }
  return 0;
}

std::string size_in_words(std::int64_t bytes) {
  const auto as = [&](double unit) { return static_cast<double>(bytes) / unit; };
  if (bytes >= 1 << 30) return fmt::format("{:g} GiB", as(0x1p30));
  return bytes >= 1 << 20 ? fmt::format("{:g} MiB", as(0x1p20)) : fmt::format("{} B", bytes);
}

void print_row(const Result& result) {
  const std::string name =
      result.tensors == 0 ? result.kernel : fmt::format("{} of {}", result.kernel, result.tensors);
  fmt::print("{:>9}  {:<18} {:>12.2f} {:>10.1f} {:>7.3f}\n", size_in_words(result.bytes), name,
             result.seconds * 1e6, result.bandwidth() / 1e9, result.ratio_to_copy);
}

nlohmann::json as_json(const Result& result) {
  return {{"kernel", result.kernel},
          {"tensors", result.tensors},
          {"bytes", result.bytes},
          {"bytes_moved", result.moved},
          {"seconds", result.seconds},
          {"best_seconds", result.best_seconds},
          {"bytes_per_second", result.bandwidth()},
          {"ratio_to_copy", result.ratio_to_copy}};
}

std::vector<Result> run_all(const Options& options) {
  RankDevice gpu(0, options.device);
  warm_kernels(gpu.stream());
  gpu.synchronize(kDeadlineSeconds, {.op = "warm-up"});
  const bool prints = options.json != "-";
  if (prints) {
    fmt::print("{:>9}  {:<18} {:>12} {:>10} {:>7}\n", "bytes", "kernel", "time (us)", "GB/s",
               "ratio");
  }
  std::vector<Result> all;
  for (std::uint64_t size = options.min_bytes; size <= options.max_bytes; size *= 4) {
    const auto bytes = static_cast<std::int64_t>(size / 16 * 16);
    gpu.synchronize(kDeadlineSeconds, {.op = "bench"});  // until the tensors are released
    const int tensors = tensors_that_fit(bytes);
    if (tensors == 0) {
      fmt::print(stderr, "{:>9}  does not fit into the GPU's memory\n", size_in_words(bytes));
      break;
    }
    for (const Result& result : Bench(gpu, bytes, tensors, options.repeats).run()) {
      if (prints) print_row(result);
      all.push_back(result);
    }
  }
  return all;
}

void write_json(const Options& options, const std::vector<Result>& results) {
  const DeviceInfo info = device_info(options.device);
  nlohmann::json report = {
      {"start_time",
       fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(
                                                std::chrono::system_clock::now())))},
      {"gpu", info.name},
      {"sm", info.sm},
      {"multiprocessors", info.multiprocessors},
      {"memory_bytes", info.memory_bytes},
      {"cuda_driver", driver_version()},
      {"cuda_runtime", runtime_version()},
      {"repeats", options.repeats},
      {"results", nlohmann::json::array()}};
  for (const Result& result : results) report["results"].push_back(as_json(result));
  if (options.json == "-") {
    fmt::print("{}\n", report.dump(2));
    return;
  }
  write_file(options.json, report.dump(2) + "\n");
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("Measures Rankbox's kernels against the GPU's own copy.");
  app.add_option("--device", options.device, "which GPU")->capture_default_str();
  app.add_option("--min", options.min_bytes, "smallest tensor, in bytes: 1M")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{16}, std::uint64_t{1} << 40));
  app.add_option("--max", options.max_bytes, "largest; sizes grow by 4: 1G")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::uint64_t{16}, std::uint64_t{1} << 40));
  app.add_option("--repeats", options.repeats, "samples for each median")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--json", options.json, "file for the figures; - for stdout, without the table");
  CLI11_PARSE(app, argc, argv);
  try {
    if (!options.json.empty() && options.json != "-") check_writable("--json", options.json);
    device_count();
    if (options.json != "-") fmt::print("{}", describe_devices());
    const std::vector<Result> results = run_all(options);
    if (!options.json.empty()) write_json(options, results);
  } catch (const Error& error) {
    fmt::print(stderr, "kernel_bench: {}\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace rankbox::gpu

int main(int argc, char** argv) { return rankbox::gpu::run(argc, argv); }
