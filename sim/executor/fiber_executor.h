// Ranks as fibers: many on each of a few threads, handing over in tens of nanoseconds.
//
// A fiber is a stack and a place to go on; switching to another one saves a handful of registers,
// where threads would ask the kernel. The context switch is Boost.Context's.
//
// Workers. There are as many threads as cores that this process may use, but no more than ranks.
// Rank r of p belongs to worker r * workers / p for good. Since a fiber never changes threads,
// compilers may keep addresses of thread_local variables across calls, waking a fiber that is about
// to park is no race (fiber_worker.h), and neighbours on a ring mostly share a core. The price: no
// worker helps another one with its ranks.
//
// Waiting. A rank that looks for the end of its wait (sim/executor/look.h) hands over between two looks,
// and one that parks hands over until it is unparked. A worker without a ready fiber looks for some
// 200 µs, then sleeps. Nothing switches while it holds a lock: calls wait only in look_until() and
// park(), and those are called with none held. unpark() never switches.
//
// What belongs to a rank but is kept by its thread is exchanged when ranks take turns
// (fiber_locals.h). Stacks are in fiber_stacks.h, sanitizers in fiber_sanitizers.h.
//
// What a rank must not do: keep its thread waiting for another rank other than through its
// communicator (mutexes, atomics it spins on, sleeping until somebody else has done something),
// since that rank may be one that has to run on this thread. Nothing here can notice, so it is no
// proved deadlock but a hang. A thread_local variable of its own is shared with other ranks.
#pragma once

#include <memory>

#include "sim/executor/executor.h"

namespace rankbox::sim {

/// Throws InvalidArgument for a world whose ranks do not fit into this machine's memory.
void check_fiber_world(int world_size);

std::unique_ptr<Executor> make_fiber_executor(int world_size);

}  // namespace rankbox::sim
