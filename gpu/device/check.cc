#include "gpu/device/check.h"

#include <string_view>

#include <fmt/format.h>

#include "gpu/device/devices.h"
#include "gpu/device/rank_device.h"

namespace rankbox::gpu {
namespace {

int rank_of(const Doing& doing) {
  if (doing.rank >= 0) return doing.rank;
  const RankDevice* const here = current_rank_device();
  return here == nullptr ? -1 : here->rank();
}

bool is_known(const Place& place) { return place.line() != 0; }

/// Returns "the driver is for CUDA 12.2, this program for 13.0".
std::string versions() {
  const std::string driver = driver_version();
  cudaGetLastError();
  return driver == "none"
             ? "there is no NVIDIA driver, and this program needs one for CUDA " + runtime_version()
             : "the driver is for CUDA " + driver + ", this program for " + runtime_version();
}

}  // namespace

std::string in_words(const Doing& doing) {
  std::string words;
  const auto add = [&words](std::string_view separator, const std::string& more) {
    if (!words.empty()) words += separator;
    words += more;
  };
  const int rank = rank_of(doing);
  if (rank >= 0) add("", fmt::format("rank {}", rank));
  if (*doing.op != '\0') add(", ", doing.op);
  if (doing.peer >= 0) add(", ", fmt::format("peer {}", doing.peer));
  if (doing.bytes >= 0) add(", ", fmt::format("{} bytes", doing.bytes));
  return words.empty() ? words : words + ": ";
}

std::string place_in_words(const Doing& doing) {
  if (!is_known(doing.place)) return "";
  return fmt::format(" [{}:{}]", doing.place.file_name(), doing.place.line());
}

ErrorContext context_of(const Doing& doing) {
  ErrorContext context;
  context.rank = rank_of(doing);
  context.op = doing.op;
  context.peer = doing.peer;
  if (is_known(doing.place)) {
    context.file = doing.place.file_name();
    context.line = static_cast<int>(doing.place.line());
  }
  return context;
}

std::string hint_for(cudaError_t status) {
  switch (status) {
    case cudaErrorNoDevice:
      return "no NVIDIA GPU is visible: try nvidia-smi, look at CUDA_VISIBLE_DEVICES, start a "
             "container with --gpus all; without a GPU, build with --config=sim";
    case cudaErrorInsufficientDriver:
    case cudaErrorStubLibrary:
    case cudaErrorSystemDriverMismatch:
      return versions() +
             ": install or update the driver (nvidia-smi says which is there), or build with the "
             "CUDA toolkit that fits it (CUDA_HOME); without a GPU, build with --config=sim";
    case cudaErrorUnsupportedPtxVersion:
      return versions() + ": update the driver, or build with an older CUDA toolkit (CUDA_HOME)";
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
      return "the kernels were built for sm_80, sm_90, and as PTX for what is newer; this GPU is "
             "older, or the driver cannot translate the PTX: add its -gencode to bazel/cuda.bzl";
    case cudaErrorInvalidDevice:
      return "fewer GPUs are visible than were asked for: look at CUDA_VISIBLE_DEVICES and "
             "LOCAL_RANK";
    case cudaErrorDevicesUnavailable:
      return "another process has the GPU for itself (compute mode exclusive): nvidia-smi shows "
             "who";
    case cudaErrorMemoryAllocation:
      return "use smaller tensors or fewer ranks per GPU, and see with nvidia-smi who else holds "
             "memory";
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
      return "something that was enqueued earlier on this GPU used memory that is not there: was a "
             "tensor destroyed before its request was waited for, or host memory passed for a "
             "tensor? compute-sanitizer finds the place";
    case cudaErrorLaunchFailure:
    case cudaErrorAssert:
      return "something that was enqueued earlier on this GPU failed; compute-sanitizer or "
             "CUDA_LAUNCH_BLOCKING=1 finds the place";
    case cudaErrorNotSupported:
      return "this GPU or its driver lacks a feature that is needed, usually memory pools "
             "(cudaMallocAsync), as some virtual GPUs do: use a whole GPU or a MIG slice, update "
             "the driver, or build with --config=sim";
    case cudaErrorLaunchTimeout:
      return "a kernel ran for too long, or what it waits for never comes";
    case cudaErrorPeerAccessUnsupported:
    case cudaErrorPeerAccessNotEnabled:
      return "these two GPUs cannot reach each other's memory (nvidia-smi topo -p2p r shows who "
             "can): copies go through the host then";
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
      return "the hardware failed: dmesg | grep Xid, then reset the GPU or restart the machine";
    case cudaErrorSystemNotReady:
      return "the NVLink fabric is not up: is nvidia-fabricmanager running, in the driver's "
             "version?";
    case cudaErrorInvalidResourceHandle:
      return "a stream or event of another GPU, or one that is gone: is the rank's device the "
             "thread's current one?";
    case cudaErrorCudartUnloading:
    case cudaErrorContextIsDestroyed:
      return "the process is ending: a tensor outlived the run, in a static variable perhaps";
    default:
      return "";
  }
}

void throw_cuda_error(cudaError_t status, const char* call, const Doing& doing) {
  cudaGetLastError();  // otherwise a later launch would report it
  const std::string hint = hint_for(status);
  const std::string message = fmt::format(
      "{}{} failed: {} ({}){}{}{}", in_words(doing), call, cudaGetErrorName(status),
      cudaGetErrorString(status), place_in_words(doing), hint.empty() ? "" : "; hint: ", hint);
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory(message, context_of(doing));
  throw CudaError(message, context_of(doing), status);
}

bool is_done(cudaError_t status, const char* call, const Doing& doing) {
  if (status == cudaErrorNotReady) {
    cudaGetLastError();  // it counts as an error there
    return false;
  }
  check(status, call, doing);
  return true;
}

cudaEvent_t make_event(const Doing& doing) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags",
        doing);
  return event;
}

cudaStream_t make_stream(const Doing& doing) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags",
        doing);
  return stream;
}

}  // namespace rankbox::gpu
