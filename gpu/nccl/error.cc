#include "gpu/nccl/error.h"

#include <iterator>

#include <fmt/format.h>

namespace rankbox::gpu {

const char* name_of(ncclResult_t result) {
  constexpr const char* kNames[] = {
      "ncclSuccess",         "ncclUnhandledCudaError", "ncclSystemError", "ncclInternalError",
      "ncclInvalidArgument", "ncclInvalidUsage",       "ncclRemoteError", "ncclInProgress"};
  static_assert(ncclInProgress == std::size(kNames) - 1);
  const auto index = static_cast<std::size_t>(result);
  return index < std::size(kNames) ? kNames[index] : "an unknown result of NCCL";
}

std::string hint_for(ncclResult_t result, std::string_view said) {
  if (said.find("Duplicate GPU") != std::string_view::npos) {
    return "two ranks were given the same GPU, and NCCL wants one each: start at most as many "
           "ranks "
           "as there are GPUs, with CUDA_VISIBLE_DEVICES and LOCAL_RANK saying which; or let ranks "
           "share a GPU without NCCL. From NCCL 2.30 on, NCCL_MULTI_RANK_GPU_ENABLE=1 allows it; "
           "before, a process for each rank with an NCCL_HOSTID of its own does, over sockets";
  }
  const auto says = [said](std::string_view words) { return said.find(words) != said.npos; };
  if (says("NVLS") || says("Multicast")) {
    return "NVLink SHARP cannot be used here, as in many containers and without a fabric manager: "
           "NCCL_NVLS_ENABLE=0 does without it";
  }
  if (says("shared memory segment")) {
    return "/dev/shm is too small, 64 MB in a container of Docker: start it with --shm-size=1g or "
           "--ipc=host; NCCL_SHM_DISABLE=1 does without it, more slowly";
  }
  switch (result) {
    case ncclSystemError:
      return "mostly the network: name an interface that reaches the other machines with "
             "NCCL_SOCKET_IFNAME (lo within one), and see that no firewall is in between; "
             "NCCL_DEBUG=WARN says more";
    case ncclRemoteError:
      return "this rank is well, another one is gone: look at the output of the other ranks";
    case ncclUnhandledCudaError:
      return "something on this GPU failed, perhaps earlier: NCCL_DEBUG=WARN says what, nvidia-smi "
             "whether the GPU is well and has memory left";
    case ncclInternalError:
      return "NCCL_DEBUG=WARN says more; all ranks must run the same version of NCCL";
    default:
      return "NCCL_DEBUG=WARN says more";
  }
}

NcclError nccl_error(ncclResult_t result, const char* call, const Doing& doing, ncclComm_t comm) {
  const std::string said = ncclGetLastError(comm);
  const std::string message =
      fmt::format("{}{} failed: {} ({}){}{}; hint: {}", in_words(doing), call, name_of(result),
                  ncclGetErrorString(result), said.empty() ? "" : fmt::format(", \"{}\"", said),
                  place_in_words(doing), hint_for(result, said));
  return {message, context_of(doing), result};
}

void check_nccl(ncclResult_t result, const char* call, const Doing& doing) {
  if (result != ncclSuccess) throw nccl_error(result, call, doing, nullptr);
}

}  // namespace rankbox::gpu
