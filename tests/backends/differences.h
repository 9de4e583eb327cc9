// What the tests of the contract have to know of the backend under test. All that is said about
// differences between backends is here, and in the helpers of worlds.h that ask.
//
// **Deadlocks.** The sandbox, and whatever runs its ranks by the sandbox's rules, proves a
// deadlock; real machines can only give up (comm/communicator.h).
//
// **Over NCCL** (gpu/nccl/backend.h), that is where every rank has a GPU of its own:
//
//   calls return when their work is on   a rank hears of what became of its calls when it waits on the
//   the rank's stream                    host; so observe() ends every program with such a wait, and
//                                        then ranks are told as they are elsewhere
//   calls that do not match hang until   the run names them then, but ranks do not
//   the deadline                         (worlds_that_compare())
//   RunOptions::buffering means nothing  NCCL buffers what it likes: no test may count on a send that
//                                        is buffered (worlds_that_buffer()), nor on one that is not,
//                                        up to some MiB (too_much_to_buffer())
//   messages of isend and irecv are      a program that needs one of them to be done while another
//   done in groups                       one's peer has not come may hang: random_programs_test.cc
//                                        has none with such messages
#pragma once

#include <cstdint>

#include "comm/run_ranks.h"

#if defined(RANKBOX_BACKEND_NCCL)
#include "gpu/run_mode.h"
#endif

namespace rankbox::testing {

/// Whether this backend may, or must, give up where the sandbox proves.
constexpr bool kMayTimeOut =
#if defined(RANKBOX_BACKEND_MPI) || defined(RANKBOX_BACKEND_NCCL)
    true;
#else
    false;
#endif

/// Whether a failed run ends the processes, so that no test outlives it (comm/run_failure.h). Their
/// failures are those of //tests/mpi:failure_test.
constexpr bool kFailureEndsJob =
#if defined(RANKBOX_BACKEND_MPI)
    true;
#else
    false;
#endif

/// Whether a world of so many ranks is one over NCCL. Which way ranks get onto GPUs is only known
/// when the test runs.
inline bool is_over_nccl([[maybe_unused]] int world_size) {
#if defined(RANKBOX_BACKEND_NCCL)
  return gpu::choose_mode(world_size) != gpu::RunMode::kShared;
#else
  return false;
#endif
}

/// Elements of a message that no backend buffers unless it is told to. NCCL has 4 MiB for each
/// pair.
inline std::int64_t too_much_to_buffer(int world_size) {
  return is_over_nccl(world_size) ? std::int64_t{8} << 20 : 4;
}

/// The end of a rank's program: what its calls have begun, and it has waited for, is done.
/// Throws what became of it, as the calls would that wait themselves.
inline void hear_of_all_calls(int world_size) {
  // The rank's stream does all that after what it was given before.
  if (is_over_nccl(world_size)) static_cast<void>(to_host(zeros(1)));
}

}  // namespace rankbox::testing
