// The device of this thread's tensors, and the thread's waits for it.
//
// A rank's thread has the RankDevice that its run created. Any other thread (a test's main thread,
// which prepares inputs and reads results) gets a separate one on first use. It is on the first
// GPU, or, where a launcher started one process per GPU, on the GPU of the process's rank. (Without
// a local rank from the launcher, that is known from the first run on.) Work of
// such a thread has finished when the call returns, so ranks can use its tensors on any stream. A
// rank's work is only enqueued on its stream.
//
// Thread safety: every function concerns the calling thread. Errors: CudaError, OutOfMemory,
// TimedOut.
#pragma once

#include "comm/slice.h"
#include "gpu/device/check.h"
#include "gpu/device/rank_device.h"

namespace rankbox::gpu {

/// Returns current_rank_device(), or the device of a thread that runs no rank.
RankDevice& device_here();

/// Blocks until this thread's work on its device's stream() has finished. The rank's waiter sets
/// the deadline (RankDevice::set_waiter); without one it is 30 s.
void wait_here(const Doing& doing);

/// Ends every call that enqueues work: waits for it if the thread runs no rank.
void settle_here(const Doing& doing);

/// Returns the device that holds the slice's memory: `usual`, unless this rank did not make it.
int device_of(Slice slice, int usual);

/// Returns the device for threads that run no rank: the one of set_default_device(), or until then
/// the local rank's, if a launcher sets one.
int default_device();
/// Sets it for threads that have not used a device yet. Thread safety: any thread.
void set_default_device(int device);

}  // namespace rankbox::gpu
