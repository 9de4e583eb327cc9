// Ranks as fibers: many per thread, with switches of tens of nanoseconds.
//
// A fiber is a stack and a saved program counter. Switching to another one saves a handful of
// registers, where threads need the kernel. Boost.Context implements the switch.
//
// Workers. There are as many threads as cores that this process may use, but no more than ranks.
// Rank r of p belongs permanently to worker r * workers / p. Since a fiber never changes threads,
// compilers may keep addresses of thread_local variables across calls. Waking a fiber that is about
// to park is no race (fiber_worker.h). Neighbours on a ring mostly share a core. The drawback: no
// worker helps another one with its ranks.
//
// Waiting. A rank that spins (sim/executor/spin.h) switches to the next fiber between two spins,
// and one that parks switches until it is unparked. A worker without a ready fiber spins for some
// 200 µs, then sleeps. No fiber switches while it holds a lock: calls wait only in spin_until() and
// park(), and those are called with none held. unpark() never switches.
//
// Thread-local state that belongs to a rank is exchanged at each switch (fiber_locals.h). Stacks
// are in fiber_stacks.h, sanitizers in fiber_sanitizers.h.
//
// Restrictions. A rank must wait for other ranks only through its communicator. It must not use
// mutexes, spin on atomics, or sleep until another rank has acted: that rank may need this thread.
// Such a wait cannot be detected, so it is a hang and not a proved deadlock. A rank's own
// thread_local variables are shared with other ranks.
#pragma once

#include <memory>

#include "sim/executor/executor.h"

namespace rankbox::sim {

/// Throws InvalidArgument for a world whose ranks do not fit into this machine's memory.
void check_fiber_world(int world_size);

/// @param threads that the ranks share; 0: one for each core
std::unique_ptr<Executor> make_fiber_executor(int world_size, int threads);

}  // namespace rankbox::sim
