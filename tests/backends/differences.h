// Differences between backends that the contract's tests must know. They are all here, and in the
// helpers of worlds.h that use them.
//
// **Deadlocks.** The sandbox, and every backend that runs ranks by its rules, proves a deadlock.
// Real machines can only time out (comm/communicator.h).
//
// **Over NCCL** (gpu/nccl/backend.h), where every rank has its own GPU:
//
//   calls return when their work is on  a rank learns the result of its calls when it waits on the
//   the rank's stream                   host; so observe() ends every program with such a wait, and
//                                       ranks then get the same errors as on other backends
//   calls that do not match hang until  the run's error names them then, but the ranks' errors do
//   the deadline                        not (worlds_that_compare())
//   RunOptions::buffering is ignored    NCCL decides what to buffer: no test may rely on a send
//                                       that is buffered (worlds_that_buffer()), nor, up to some
//                                       MiB, on one that is not (too_much_to_buffer())
//   messages of isend and irecv         a program that needs one of them to complete while another
//   complete in groups                  one's peer has not called may hang: random_programs_test.cc
//                                       has none with such messages
#pragma once

#include <cstdint>

#include "comm/run_ranks.h"

#if defined(RANKBOX_BACKEND_NCCL)
#include "gpu/run_mode.h"
#endif

namespace rankbox::testing {

/// Whether this backend may, or must, time out where the sandbox proves a deadlock.
constexpr bool kMayTimeOut =
#if defined(RANKBOX_BACKEND_MPI) || defined(RANKBOX_BACKEND_NCCL)
    true;
#else
    false;
#endif

/// Whether a failed run ends the processes, and with them the test (comm/run_failure.h).
/// //tests/mpi:failure_test has those failures.
constexpr bool kFailureEndsJob =
#if defined(RANKBOX_BACKEND_MPI)
    true;
#else
    false;
#endif

/// Returns whether a world of this many ranks runs over NCCL. The assignment of ranks to GPUs is
/// known only when the test runs.
inline bool is_over_nccl([[maybe_unused]] int world_size) {
#if defined(RANKBOX_BACKEND_NCCL)
  return gpu::choose_mode(world_size) != gpu::RunMode::kShared;
#else
  return false;
#endif
}

/// Whether native collectives are run with RunOptions::blocking_calls, too: in the sandbox their
/// calls are the same then.
constexpr bool kMayBlock =
#if defined(RANKBOX_BACKEND_SIM)
    false;
#else
    true;
#endif

/// Returns the elements of a message that no backend buffers unless configured to. NCCL has 4 MiB
/// per pair.
inline std::int64_t too_much_to_buffer(int world_size) {
  return is_over_nccl(world_size) ? std::int64_t{8} << 20 : 4;
}

/// Ends a rank's program: blocks until the operations that it started and waited for are done.
/// Throws their errors, as blocking calls would.
inline void hear_of_all_calls(int world_size) {
  // The rank's stream executes this after all its earlier work.
  if (is_over_nccl(world_size)) static_cast<void>(to_host(zeros(1)));
}

}  // namespace rankbox::testing
