// Creation and destruction of the emulated NCCL's communicators.
#include "tests/gpu/emulation/nccl_comm.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/nccl_control.h"

namespace rankbox::gpu::emulation {
namespace {

std::atomic<std::int64_t>& live() {
  static std::atomic<std::int64_t> communicators{0};
  return communicators;
}

/// Returns what the ranks of an id share. The first rank that uses the id creates it.
std::shared_ptr<SharedComm> shared_comm_of(const ncclUniqueId& id, int size) {
  static std::mutex mutex;
  static auto* const by_id = new std::map<std::string, std::weak_ptr<SharedComm>>;
  const std::string key(id.internal, sizeof id.internal);
  const std::lock_guard lock(mutex);
  std::weak_ptr<SharedComm>& known = (*by_id)[key];
  std::shared_ptr<SharedComm> shared_comm = known.lock();
  if (shared_comm == nullptr) {
    shared_comm = std::make_shared<SharedComm>(size);
    known = shared_comm;
  }
  return shared_comm;
}

bool may_share_device() {
  const char* const said = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return said != nullptr && std::string_view(said) == "1";
}

constexpr int kMostChannels = 32;

/// The channels of all communicators of the process: what they connect, and hold memory for.
std::atomic<std::int64_t>& channels() {
  static std::atomic<std::int64_t> all{0};
  return all;
}

/// Nothing is taken from the parent of a split that has a configuration.
int channels_of(const ncclConfig_t* config, int otherwise) {
  if (config == nullptr) return otherwise;
  return config->maxCTAs == NCCL_CONFIG_UNDEF_INT ? kMostChannels : config->maxCTAs;
}

bool is_blocking(const ncclConfig_t* config, bool otherwise) {
  if (config == nullptr || config->blocking == NCCL_CONFIG_UNDEF_INT) return otherwise;
  return config->blocking != 0;
}

ncclResult_t make(ncclComm_t* comm, std::shared_ptr<SharedComm> shared_comm, int rank, int device,
                  bool blocking, int number_of_channels) {
  auto made = std::make_unique<ncclComm>();
  made->shared_comm = std::move(shared_comm);
  made->rank = rank;
  made->device = device;
  made->blocking = blocking;
  made->channels = number_of_channels;
  if (!made->shared_comm->join(rank, device)) {
    return fail(ncclInvalidArgument, fmt::format("rank {} has joined already", rank));
  }
  const cudaError_t status = cudaEventCreateWithFlags(&made->latest, cudaEventDisableTiming);
  if (status != cudaSuccess) {
    return fail(ncclUnhandledCudaError,
                fmt::format("Cuda failure '{}'", cudaGetErrorString(status)));
  }
  live().fetch_add(1);
  channels() += number_of_channels;
  *comm = made.release();
  return ncclSuccess;
}

void release(ncclComm_t comm) {
  cudaEventDestroy(comm->latest);
  channels() -= comm->channels;
  delete comm;
  live().fetch_sub(1);
}

/// Checks that all ranks have joined, each on a separate device.
ncclResult_t check_shared_comm(ncclComm_t comm) {
  if (!comm->shared_comm->all_have_joined()) return ncclInProgress;
  const int twin = comm->shared_comm->twin_of(comm->rank);
  if (twin < 0 || may_share_device()) return ncclSuccess;
  return fail(ncclInvalidUsage,
              fmt::format("Duplicate GPU detected : rank {} and rank {} both on CUDA device {:x}",
                          comm->rank, twin, (comm->device + 1) << 12));
}

ncclResult_t finish_split(ncclComm_t parent, std::uint64_t n, ncclComm_t* made, bool blocking,
                          int number_of_channels) {
  const std::unique_ptr<SharedComm::Place> place =
      parent->shared_comm->result_of_split(n, parent->rank);
  if (place == nullptr) return ncclInProgress;
  if (place->shared_comm == nullptr) return ncclSuccess;
  return make(made, place->shared_comm, place->rank, parent->device, blocking, number_of_channels);
}

ncclResult_t wait_for_kernels(ncclComm_t comm) {
  const cudaError_t status = cudaEventQuery(comm->latest);
  if (status == cudaSuccess) return ncclSuccess;
  (void)cudaGetLastError();
  return status == cudaErrorNotReady ? ncclInProgress : ncclUnhandledCudaError;
}

}  // namespace

void finish_abort(ncclComm_t comm) {
  cudaEventSynchronize(comm->latest);
  release(comm);
}

std::int64_t live_nccl_communicators() { return live().load(); }
std::int64_t live_nccl_channels() { return channels(); }

ncclResult_t check_ready(ncclComm_t comm) {
  if (comm == nullptr) return fail(ncclInvalidArgument, "comm argument is NULL");
  if (comm->pending) {
    return fail(ncclInvalidArgument,
                "Attempt to use communicator before the previous operation returned ncclSuccess");
  }
  return comm->async_error;
}

ncclResult_t carry_out_or_defer(ncclComm_t comm, std::function<ncclResult_t()> work) {
  static std::atomic<int> calls{0};
  comm->looks = comm->blocking ? 0 : calls.fetch_add(1) % 4;
  ncclResult_t result = comm->looks > 0 ? ncclInProgress : work();
  if (comm->blocking) {
    while (result == ncclInProgress && !exiting()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      result = work();
    }
  } else if (result == ncclInProgress) {
    comm->pending = std::move(work);
  }
  if (result != ncclSuccess && result != ncclInProgress) comm->async_error = result;
  return result;
}

}  // namespace rankbox::gpu::emulation

using rankbox::gpu::emulation::carry_out_or_defer;
using rankbox::gpu::emulation::check_ready;
using rankbox::gpu::emulation::fail;

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<unsigned> ids{0};
  std::memset(id->internal, 0, sizeof id->internal);
  const std::string text =
      fmt::format("emulated {} {:08x}", ids.fetch_add(1), std::random_device()());
  std::memcpy(id->internal, text.data(), text.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId comm_id, int rank,
                                    ncclConfig_t* config) {
  *comm = nullptr;
  if (nranks < 1) {
    return fail(ncclInvalidArgument, fmt::format("invalid device count ({}) requested", nranks));
  }
  if (rank < 0 || rank >= nranks) {
    return fail(ncclInvalidArgument, fmt::format("rank {} exceeds ndev={}", rank, nranks));
  }
  int device = -1;
  if (const cudaError_t status = cudaGetDevice(&device); status != cudaSuccess) {
    return fail(ncclUnhandledCudaError,
                fmt::format("Cuda failure '{}'", cudaGetErrorString(status)));
  }
  const auto ordered = rankbox::gpu::emulation::count_init(device);
  if (ordered.now != ncclSuccess) return ordered.now;
  auto shared_comm = rankbox::gpu::emulation::shared_comm_of(comm_id, nranks);
  if (shared_comm->size() != nranks) {
    return fail(ncclInvalidArgument, fmt::format("rank {} says {} ranks where another said {}",
                                                 rank, nranks, shared_comm->size()));
  }
  const bool blocking = rankbox::gpu::emulation::is_blocking(config, true);
  const int channels =
      rankbox::gpu::emulation::channels_of(config, rankbox::gpu::emulation::kMostChannels);
  const ncclResult_t made =
      rankbox::gpu::emulation::make(comm, std::move(shared_comm), rank, device, blocking, channels);
  if (made != ncclSuccess) return made;
  ncclComm_t mine = *comm;
  const ncclResult_t result =
      carry_out_or_defer(mine, [mine] { return rankbox::gpu::emulation::check_shared_comm(mine); });
  if (blocking && result != ncclSuccess) {
    rankbox::gpu::emulation::release(std::exchange(*comm, nullptr));
  }
  return result;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* newcomm,
                           ncclConfig_t* config) {
  if (const ncclResult_t ready = check_ready(comm); ready != ncclSuccess) return ready;
  *newcomm = nullptr;
  if (color < NCCL_SPLIT_NOCOLOR) {
    return fail(ncclInvalidArgument, fmt::format("invalid color {}", color));
  }
  const auto ordered = rankbox::gpu::emulation::count_init(comm->device);
  if (ordered.now != ncclSuccess) return ordered.now;
  const std::uint64_t n = comm->splits++;
  comm->shared_comm->call_split(n, comm->rank, color, key);
  const bool blocking = rankbox::gpu::emulation::is_blocking(config, comm->blocking);
  const int channels = rankbox::gpu::emulation::channels_of(config, comm->channels);
  const ncclResult_t result = carry_out_or_defer(comm, [comm, n, newcomm, blocking, channels] {
    return rankbox::gpu::emulation::finish_split(comm, n, newcomm, blocking, channels);
  });
  // NCCL 2.28 does so: only the state of `comm` tells that the split is in progress.
  return result == ncclInProgress ? ncclSuccess : result;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result) {
  if (comm == nullptr) return fail(ncclInvalidArgument, "comm argument is NULL");
  if (comm->pending) {
    if (comm->looks-- > 0) {
      *result = ncclInProgress;
      return ncclSuccess;
    }
    const ncclResult_t state = comm->pending();
    if (state == ncclInProgress) {
      *result = ncclInProgress;
      return ncclSuccess;
    }
    comm->pending = nullptr;
    if (state != ncclSuccess) comm->async_error = state;
  }
  *result = comm->async_error;
  return ncclSuccess;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  if (const ncclResult_t ready = check_ready(comm); ready != ncclSuccess) return ready;
  if (comm->finalized) return fail(ncclInvalidArgument, "comm was finalized already");
  comm->finalized = true;
  return carry_out_or_defer(comm,
                            [comm] { return rankbox::gpu::emulation::wait_for_kernels(comm); });
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (const ncclResult_t ready = check_ready(comm); ready != ncclSuccess) return ready;
  cudaEventSynchronize(comm->latest);
  rankbox::gpu::emulation::release(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  if (comm == nullptr) return ncclSuccess;
  if (rankbox::gpu::emulation::count_abort(comm->device).hangs) {
    while (!rankbox::gpu::emulation::exiting())
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  comm->aborted->store(true);
  comm->shared_comm->wake();
  if (!rankbox::gpu::emulation::defer_abort(comm)) rankbox::gpu::emulation::finish_abort(comm);
  return ncclSuccess;
}

}  // extern "C"
