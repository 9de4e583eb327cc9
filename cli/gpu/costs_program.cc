// gpu_costs: prints what calls of CUDA and NCCL cost the host on this machine, as JSON.
//
//   gpu_costs starts        what a run calls at its start
//   gpu_costs calls [N]     what each step calls, from 1, 2 and 4 threads at a time: the median of
//                           the N batches of each thread (21)
//
// Costs are in microseconds of the host's clock. A batch is short enough that the GPU's queue never
// fills up.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>
#include <nlohmann/json.hpp>

#include "comm/errors.h"
#include "gpu/device/check.h"
#include "gpu/device/devices.h"
#include "gpu/kernels/kernels.h"

namespace rankbox::gpu {
namespace {

using Kind = SmallOperation::Kind;

constexpr std::size_t kLargeBytes = 64 << 20;
constexpr std::size_t kSmallBytes = 1024;
constexpr int kRepeats = 5;  // of a call at the start
constexpr int kBatch = 100;  // calls
constexpr int kDefaultBatches = 21;

double microseconds_of(const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// REQUIRES: at least one value.
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void check_nccl(ncclResult_t result, const char* call) {
  if (result == ncclSuccess) return;
  throw Error(fmt::format("{} failed: {}; hint: NCCL_DEBUG=WARN prints the cause", call,
                          ncclGetErrorString(result)));
}

/// Runs the function in as many threads as there are ranks, and rethrows the first error.
void in_threads(int count, const std::function<void(int)>& function) {
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(count));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&, i] {
        try {
          function(i);
        } catch (...) {
          failures[static_cast<std::size_t>(i)] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

// ---- Calls at the start of a run ----------------------------------------------------------------

/// Returns the median cost of `make`; `undo` follows each, outside of the clock.
double cost_of(const std::function<void()>& make, const std::function<void()>& undo) {
  std::vector<double> costs;
  for (int i = 0; i < kRepeats; ++i) {
    costs.push_back(microseconds_of(make));
    undo();
  }
  return median(costs);
}

/// Costs of rank 0, in a world with a thread for each GPU.
struct NcclCosts {
  double init = 0;
  double split = 0;
};

NcclCosts costs_of_nccl(int gpus) {
  ncclUniqueId id;
  check_nccl(ncclGetUniqueId(&id), "ncclGetUniqueId");
  NcclCosts costs;
  in_threads(gpus, [&](int rank) {
    check(cudaSetDevice(rank), "cudaSetDevice");
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    ncclComm_t comm = nullptr;
    ncclComm_t part = nullptr;
    const double init = microseconds_of([&] {
      check_nccl(ncclCommInitRankConfig(&comm, gpus, id, rank, &config), "ncclCommInitRankConfig");
    });
    const double split = microseconds_of(
        [&] { check_nccl(ncclCommSplit(comm, 0, rank, &part, &config), "ncclCommSplit"); });
    if (rank == 0) costs = {init, split};
    check_nccl(ncclCommDestroy(part), "ncclCommDestroy");
    check_nccl(ncclCommDestroy(comm), "ncclCommDestroy");
  });
  return costs;
}

nlohmann::json costs_of_starts() {
  const int gpus = device_count();
  check(cudaSetDevice(0), "cudaSetDevice");
  const double context = microseconds_of([] { check(cudaFree(nullptr), "cudaFree"); });
  void* block = nullptr;
  const double large = cost_of([&] { check(cudaMalloc(&block, kLargeBytes), "cudaMalloc"); },
                               [&] { check(cudaFree(block), "cudaFree"); });
  cudaStream_t stream = nullptr;
  const double streams = cost_of(
      [&] {
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
              "cudaStreamCreateWithFlags");
      },
      [&] { check(cudaStreamDestroy(stream), "cudaStreamDestroy"); });
  cudaEvent_t event = nullptr;
  const double events = cost_of(
      [&] {
        check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
      },
      [&] { check(cudaEventDestroy(event), "cudaEventDestroy"); });
  const NcclCosts nccl = costs_of_nccl(gpus);
  nlohmann::json costs = nlohmann::json::array();
  const auto add = [&](const std::string& what, double cost) {
    costs.push_back({{"what", what}, {"us", {cost}}});
  };
  add("context of a GPU", context);
  add("cudaMalloc, 64 MiB", large);
  add("stream", streams);
  add("event", events);
  const std::string ranks = fmt::format(", {} rank{}", gpus, gpus == 1 ? "" : "s");
  add("NCCL: first communicator" + ranks, nccl.init);
  add("NCCL: split" + ranks, nccl.split);
  return {{"threads", {1}}, {"costs", costs}};
}

// ---- Calls of each step -------------------------------------------------------------------------

/// What a thread enqueues on.
class Lane {
 public:
  Lane() {
    check(cudaSetDevice(0), "cudaSetDevice");
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    check(cudaMalloc(&from, kSmallBytes), "cudaMalloc");
    check(cudaMalloc(&into, kSmallBytes), "cudaMalloc");
    launch_change(Kind::kFill, from, kSmallBytes / 4, DType::kFloat32,
                  small_value(DType::kFloat32, 1.0), stream);
    check(cudaEventRecord(event, stream), "cudaEventRecord");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }
  ~Lane() {
    static_cast<void>(cudaFree(from));
    static_cast<void>(cudaFree(into));
    static_cast<void>(cudaEventDestroy(event));
    static_cast<void>(cudaStreamDestroy(stream));
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  void* from = nullptr;
  void* into = nullptr;
};

struct Call {
  const char* what;
  void (*enqueue)(Lane& lane);
};

constexpr Call kCalls[] = {
    {"event record",
     [](Lane& lane) { check(cudaEventRecord(lane.event, lane.stream), "cudaEventRecord"); }},
    {"wait for an event",
     [](Lane& lane) {
       check(cudaStreamWaitEvent(lane.stream, lane.event, 0), "cudaStreamWaitEvent");
     }},
    {"copy, 1 KiB",
     [](Lane& lane) {
       check(cudaMemcpyAsync(lane.into, lane.from, kSmallBytes, cudaMemcpyDeviceToDevice,
                             lane.stream),
             "cudaMemcpyAsync");
     }},
    {"kernel, 1 KiB",
     [](Lane& lane) {
       launch_change(Kind::kFill, lane.into, kSmallBytes / 4, DType::kFloat32,
                     small_value(DType::kFloat32, 1.0), lane.stream);
     }},
};

/// Returns the median cost of a call while all threads call it.
double cost_in_threads(const Call& call, int threads, int batches) {
  std::vector<std::vector<double>> costs(static_cast<std::size_t>(threads));
  std::barrier together(threads);
  in_threads(threads, [&](int thread) {
    try {
      Lane lane;
      for (int batch = 0; batch < batches; ++batch) {
        together.arrive_and_wait();
        const double batch_us = microseconds_of([&] {
          for (int i = 0; i < kBatch; ++i) call.enqueue(lane);
        });
        costs[static_cast<std::size_t>(thread)].push_back(batch_us / kBatch);
        check(cudaStreamSynchronize(lane.stream), "cudaStreamSynchronize");
      }
    } catch (...) {
      together.arrive_and_drop();  // the others go on
      throw;
    }
  });
  std::vector<double> all;
  for (const auto& each : costs) all.insert(all.end(), each.begin(), each.end());
  return median(all);
}

nlohmann::json costs_of_calls(int batches) {
  const std::vector<int> threads = {1, 2, 4};
  device_count();  // sets CUDA's variables
  nlohmann::json costs = nlohmann::json::array();
  for (const Call& call : kCalls) {
    nlohmann::json us = nlohmann::json::array();
    for (const int count : threads) us.push_back(cost_in_threads(call, count, batches));
    costs.push_back({{"what", call.what}, {"us", us}});
  }
  return {{"threads", threads}, {"costs", costs}};
}

nlohmann::json costs_of(const std::vector<std::string>& arguments) {
  const std::string which = arguments.empty() ? "" : arguments[0];
  if (which == "starts" && arguments.size() == 1) return costs_of_starts();
  const int batches = arguments.size() < 2 ? kDefaultBatches : std::atoi(arguments[1].c_str());
  if (which == "calls" && arguments.size() <= 2 && batches >= 1) return costs_of_calls(batches);
  throw InvalidArgument("usage: gpu_costs starts | calls [N], with N at least 1");
}

}  // namespace
}  // namespace rankbox::gpu

int main(int argc, char** argv) {
  try {
    const auto costs = rankbox::gpu::costs_of({argv + 1, argv + argc});
    fmt::print("{}\n", costs.dump());
    return 0;
  } catch (const rankbox::InvalidArgument& error) {
    fmt::print(stderr, "gpu_costs: {}\n", error.what());
    return 2;
  } catch (const rankbox::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
