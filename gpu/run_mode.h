// How the ranks of a world are assigned to GPUs:
//
//   processes   a launcher started several processes: one rank each, over NCCL
//   threads     one GPU per rank: threads of this process, over NCCL. With
//               NCCL_MULTI_RANK_GPU_ENABLE=1 (NCCL 2.30.3), two ranks per GPU
//   shared      fewer GPUs than that: threads of this process share them (gpu/shared/plane.h)
//
// RANKBOX_GPU_MODE=nccl|shared|auto selects the mode. auto, the default, takes the first of these
// that fits. nccl has no limit on ranks per GPU where NCCL allows several.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankbox::gpu {

enum class RunMode : std::uint8_t { kProcesses, kThreads, kShared };

/// Throws InvalidArgument if the requested mode is not possible, and CudaError if ranks would be
/// threads and there is no GPU.
RunMode choose_mode(int world_size);

/// Returns the device of each rank that is a thread of this process: in order, as evenly as
/// possible.
std::vector<int> assign_devices(int world_size);
/// The number of devices among them.
int devices_used(int world_size);

/// Describes a world of this size and what its times mean, then the GPUs and the versions of CUDA
/// and NCCL. Several lines, for the header of a report. Never throws: the text includes errors.
std::string describe_world(int world_size);

/// Prints on stderr, once per process, that the mode is shared, and what that measures.
/// RANKBOX_GPU_NOTICE=0 turns it off.
void note_sharing(int world_size);

/// Returns "2.28.9".
std::string nccl_version();

}  // namespace rankbox::gpu
