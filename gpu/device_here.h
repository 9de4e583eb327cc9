// The device that this thread's tensors live on, and how the thread waits for it.
//
// A rank's thread has the RankDevice that its run made. Any other thread (a test's main thread,
// which makes inputs and looks at results) gets one of its own on first use: on the first GPU, or
// on that of the process's rank where a launcher started a process per GPU. What such a thread does
// is finished when the call returns, so that ranks can use its tensors whatever stream they are on;
// a rank's own work merely takes its place in the rank's stream.
//
// Thread safety: everything concerns the calling thread. Errors: CudaError, OutOfMemory, TimedOut.
#pragma once

#include "comm/slice.h"
#include "gpu/device/check.h"
#include "gpu/device/rank_device.h"

namespace rankbox::gpu {

/// current_rank_device(), or the one of a thread that runs no rank.
RankDevice& device_here();

/// Blocks until all that this thread has put on its device's stream() is done: for as long as the
/// rank's waiter says (RankDevice::set_waiter), else for 30 s.
void wait_here(const Doing& doing);

/// Ends every call that has put something on the stream: waits for it, outside of any rank.
void settle_here(const Doing& doing);

/// The device that the slice's memory is on; `usual` for a tensor of the rank's own, or of another
/// rank of its world, which are where their ranks are.
int device_of(Slice slice, int usual);

/// The device for threads that run no rank: the local rank's, if a launcher says which that is.
int default_device();

}  // namespace rankbox::gpu
