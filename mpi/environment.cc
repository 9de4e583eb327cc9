#include "mpi/environment.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "mpi/check.h"

namespace rankbox::mpi {
namespace {

void finalize() {
  int done = 0;
  MPI_Finalized(&done);
  if (done != 0) return;
  if (is_running()) {
    std::fprintf(stderr, "rankbox: process %d exits in the middle of a run; ending all processes\n",
                 environment().rank);
    end_all_processes(1);
  }
  MPI_Finalize();
}

void find_node(Environment& made) {
  MPI_Comm node = MPI_COMM_NULL;
  check(MPI_Comm_split_type(made.control, MPI_COMM_TYPE_SHARED, made.rank, MPI_INFO_NULL, &node),
        "MPI_Comm_split_type");
  check(MPI_Comm_rank(node, &made.local_rank), "MPI_Comm_rank");
  int lowest = made.rank;
  check(MPI_Bcast(&lowest, 1, MPI_INT, 0, node), "MPI_Bcast");
  check(MPI_Comm_free(&node), "MPI_Comm_free");

  std::vector<int> all(static_cast<std::size_t>(made.size));
  check(MPI_Allgather(&lowest, 1, MPI_INT, all.data(), 1, MPI_INT, made.control), "MPI_Allgather");
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  made.node = static_cast<int>(std::lower_bound(all.begin(), all.end(), lowest) - all.begin());
}

Environment start() {
  int started = 0;
  check(MPI_Initialized(&started), "MPI_Initialized");
  if (started == 0) {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    std::atexit(finalize);
    // MPI assigns errors without a communicator, or not attributed to their request's, to these.
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  Environment made;
  check(MPI_Comm_dup(MPI_COMM_WORLD, &made.control), "MPI_Comm_dup");
  // All communicators created from it inherit the handler.
  check(MPI_Comm_set_errhandler(made.control, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(made.control, &made.rank), "MPI_Comm_rank");
  check(MPI_Comm_size(made.control, &made.size), "MPI_Comm_size");

  int* highest = nullptr;
  int known = 0;
  check(MPI_Comm_get_attr(made.control, MPI_TAG_UB, &highest, &known), "MPI_Comm_get_attr");
  if (known != 0)
    made.tag_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(*highest) + 1u)) - 1;
  find_node(made);
  return made;
}

}  // namespace

void end_all_processes(int exit_code) {
  is_running() = false;  // MPI_Abort may call exit(), and so finalize()
  std::fflush(nullptr);
  MPI_Abort(environment().control, exit_code);
  std::abort();  // MPI does not guarantee that MPI_Abort does not return
}

std::atomic<bool>& is_running() {
  static std::atomic<bool> running{false};
  return running;
}

const Environment& environment() {
  static const Environment made = start();
  return made;
}

}  // namespace rankbox::mpi
