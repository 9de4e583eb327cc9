// How the ranks of a world get onto GPUs:
//
//   processes   a launcher started several processes: one rank each, over NCCL
//   threads     a GPU for every rank: threads of this process, over NCCL
//   shared      fewer GPUs than ranks: threads of this process that share them (gpu/shared/plane.h)
//
// RANKBOX_GPU_MODE=nccl|shared|auto forces it; auto, the default, is the first of these that fits.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rankbox::gpu {

enum class RunMode : std::uint8_t { kProcesses, kThreads, kShared };

/// Throws InvalidArgument if what was asked for is not possible, CudaError if ranks would be
/// threads and there is no GPU.
RunMode choose_mode(int world_size);

/// [rank] the device of each rank that is a thread of this process: in order, as evenly as can be.
std::vector<int> assign_devices(int world_size);

/// What a world of this size is here, and what times of it mean; then the GPUs and the versions of
/// CUDA and NCCL. Several lines, for the header of a report. Never throws: it says what is wrong.
std::string describe_world(int world_size);

/// Says on stderr, once a process, that ranks share GPUs, and what that measures.
/// RANKBOX_GPU_NOTICE=0 turns it off.
void note_sharing(int world_size);

/// "2.28.9".
std::string nccl_version();

}  // namespace rankbox::gpu
