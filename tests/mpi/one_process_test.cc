// A process that is the only one goes on after a failed run, so MPI must hold no memory of it.
#include <set>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>
#include <mpi.h>

#include "comm/run_ranks.h"

namespace {

/// The sends that have begun and not ended.
std::set<MPI_Request>& open_sends() {
  static std::set<MPI_Request> requests;
  return requests;
}

}  // namespace

extern "C" int MPI_Issend(const void* data, int count, MPI_Datatype type, int peer, int tag,
                          MPI_Comm comm, MPI_Request* request) {
  const int code = PMPI_Issend(data, count, type, peer, tag, comm, request);
  open_sends().insert(*request);
  return code;
}

extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  const MPI_Request before = *request;
  const int code = PMPI_Test(request, done, status);
  if (*done != 0) open_sends().erase(before);
  return code;
}

namespace rankbox {
namespace {

TEST_CASE("a run that fails leaves no message to itself open, and the next run works") {
  for (const Buffering buffering : {Buffering::rendezvous(), Buffering::unbounded()}) {
    const RunOptions options = {.world_size = 1, .buffering = buffering};
    for (int time = 0; time < 3; ++time) {
      CHECK_THROWS(run_ranks(options, [](Comm& dist) {
        const Tensor large = full(1 << 18, 1.0f), small = full(3, 2.0f);
        const std::vector<Request> requests = {dist.isend(large, 0), dist.isend(small, 0),
                                               dist.isend(large, 0)};
        throw std::runtime_error("no more coffee");
      }));
      CHECK(open_sends().empty());
      {
        const Tensor large = full(1 << 18, 1.0f);
        std::vector<Request> kept;  // outlives the run
        CHECK_THROWS(run_ranks(options, [&](Comm& dist) {
          kept.push_back(dist.isend(large, 0));
          throw std::runtime_error("no more coffee");
        }));
        CHECK(open_sends().empty());
      }
      const auto run = run_ranks(options, [](Comm& dist) {
        Tensor out = full(3, 7.0f), in = zeros(3);
        dist.sendrecv(out, 0, in, 0);
        return in.data()[2];
      });
      CHECK(run.results[0] == 7.0f);
    }
  }
}

}  // namespace
}  // namespace rankbox
