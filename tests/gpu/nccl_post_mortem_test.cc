// Mismatched calls on NCCL: the error of the failed run names both places. Also which of several
// failures a run throws.
#include <functional>
#include <latch>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/error_bytes.h"
#include "comm/rank_failure.h"
#include "gpu/nccl/error.h"
#include "tests/gpu/nccl_test_failures.h"

namespace rankbox::gpu {
namespace {

using emulation::NcclFault;

TEST_CASE("ranks and nodes that a process cannot have are refused") {
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .local_ranks = {2}}), InvalidArgument);
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .local_ranks = {0}}), InvalidArgument);  // no id
  CHECK_THROWS_AS(NcclWorld({.world_size = 2, .nodes = {0}}), InvalidArgument);
}

// ---- Mismatches ---------------------------------------------------------------------------------

/// Records the lines of the mismatched calls, by rank.
class Lines {
 public:
  explicit Lines(int ranks) : lines_(static_cast<std::size_t>(ranks)) {}
  /// Call it on the line of the call.
  Communicator& at(Communicator& dist, Place place = Place::current()) {
    lines_[static_cast<std::size_t>(dist.rank())] = static_cast<int>(place.line());
    return dist;
  }
  int of(int rank) const { return lines_[static_cast<std::size_t>(rank)]; }

 private:
  std::vector<int> lines_;
};

/// Runs `body` on every rank. After all have made their calls, an NCCL error ends the run instead
/// of the deadline.
NcclRun run_mismatched(int size, const std::function<void(Communicator&)>& body) {
  std::latch calls(size);
  return run({.world_size = size, .deadline_seconds = 60}, [&](Communicator& dist) {
    body(dist);
    calls.arrive_and_wait();
    if (dist.rank() == 0) emulation::order_nccl_fault(0, NcclFault::kFailsLater, ncclRemoteError);
    dist.barrier();
  });
}

template <class E>
void check_names_both(const NcclRun& result, const Lines& lines, int rank, int other) {
  INFO(result.what());
  REQUIRE(result.is_cause<E>());
  const ErrorContext context = result.context();
  CHECK(context.rank == rank);
  CHECK(context.line == lines.of(rank));
  CHECK(contains(result.what(), in_this_file(lines.of(rank))));
  CHECK(contains(result.what(), in_this_file(lines.of(other))));
  // The last operations of every rank, and the command that explains the failure.
  for (std::size_t each = 0; each < result.failures.size(); ++each)
    CHECK(contains(result.what(), "\n  rank " + std::to_string(each) + "  "));
  CHECK(contains(result.what(), "./rankbox run"));
}

TEST_CASE("a message whose ends disagree is a MessageMismatch that names both places") {
  struct Row {
    const char* name;
    std::function<void(Communicator&, Lines&)> body;
  };
  const Row rows[] = {
      {"of another size",
       [](Communicator& dist, Lines& lines) {
         Tensor data = some(4 + dist.rank());
         if (dist.rank() == 0) lines.at(dist).send(data, 1);
         if (dist.rank() == 1) lines.at(dist).recv(data, 0);
       }},
      {"of no elements, which does not wait",
       [](Communicator& dist, Lines& lines) {
         Tensor data = some(dist.rank());
         if (dist.rank() == 0) lines.at(dist).send(data, 1);
         if (dist.rank() == 1) lines.at(dist).recv(data, 0);
       }},
      {"of another type",
       [](Communicator& dist, Lines& lines) {
         if (dist.rank() == 0) lines.at(dist).send(some(4), 1);
         if (dist.rank() == 1) lines.at(dist).recv(full<std::int32_t>(4, 1), 0);
       }},
      {"asynchronous, the second of three",
       [](Communicator& dist, Lines& lines) {
         if (dist.rank() > 1) return;
         Tensor a = some(1), b = some(2 + dist.rank()), c = some(1);
         std::vector<Communicator::Request> requests;
         const auto start = [&](Tensor& data, Place place) {
           requests.push_back(dist.rank() == 0 ? dist.isend(data, 1, place)
                                               : dist.irecv(data, 0, place));
         };
         start(a, Place::current());
         lines.at(dist), start(b, Place::current());
         start(c, Place::current());
         dist.wait_all(requests);
       }},
      {"half of a sendrecv",
       [](Communicator& dist, Lines& lines) {
         if (dist.rank() > 1) return;
         Tensor out = some(dist.rank() == 0 ? 3 : 2), in = some(2);
         lines.at(dist).sendrecv(out, 1 - dist.rank(), in, 1 - dist.rank());
       }},
      {"in a communicator of some ranks",
       [](Communicator& dist, Lines& lines) {
         Communicator part = dist.split(dist.rank() < 2 ? 0 : 1, -dist.rank());
         Tensor data = some(4 + dist.rank());
         if (dist.rank() == 0) lines.at(dist), part.send(data, 0);
         if (dist.rank() == 1) lines.at(dist), part.recv(data, 1);
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    Lines lines(3);
    const NcclRun result = run_mismatched(3, [&](Communicator& dist) { row.body(dist, lines); });
    check_names_both<MessageMismatch>(result, lines, 1, 0);
    CHECK(result.context().peer == 0);
  }
}

TEST_CASE(
    "different collectives are a CollectiveMismatch that names what differs, and both places") {
  struct Row {
    const char* differs;
    std::function<void(Communicator&, bool odd)> call;
  };
  const Row rows[] = {
      {"collective",
       [](Communicator& dist, bool odd) {
         Tensor data = some(4);
         odd ? dist.all_reduce(data) : dist.broadcast(data, 0);
       }},
      {"root", [](Communicator& dist, bool odd) { dist.broadcast(some(4), odd ? 1 : 0); }},
      {"op", [](Communicator& dist,
                bool odd) { dist.all_reduce(some(4), odd ? ReduceOp::MAX : ReduceOp::SUM); }},
      {"size", [](Communicator& dist, bool odd) { dist.all_reduce(some(odd ? 4 : 0)); }},
      {"dtype",
       [](Communicator& dist, bool odd) {
         odd ? dist.all_reduce(full<std::int32_t>(1, 1)) : dist.all_reduce(some(1));
       }},
      {"root, op, size",
       [](Communicator& dist, bool odd) {
         Tensor data = some(odd ? 4 : 5);
         const auto request =
             dist.reduce_async(data, odd ? 1 : 0, odd ? ReduceOp::MAX : ReduceOp::SUM);
         dist.wait(request);
       }},
  };
  for (const Row& row : rows) {
    CAPTURE(row.differs);
    const NcclRun result = run_mismatched(3, [&](Communicator& dist) {
      dist.all_reduce(some(7));  // the same on all
      row.call(dist, dist.rank() == 1);
    });
    INFO(result.what());
    CHECK(result.is_cause<CollectiveMismatch>());
    CHECK(contains(result.what(), std::string(" in ") + row.differs + ": "));
    CHECK(result.context().rank == 0);
    CHECK(contains(result.what(), "rank 1 calls "));
  }
}

TEST_CASE("a message to oneself of another size: MessageMismatch at once") {
  const NcclRun result = run({.world_size = 1, .deadline_seconds = 60}, [](Communicator& dist) {
    Tensor in = some(3);
    dist.sendrecv(some(2), 0, in, 0);
  });
  CHECK(result.is_cause<MessageMismatch>());
  CHECK(result.context().peer == 0);
}

// ---- Which failure a run throws -----------------------------------------------------------------

std::exception_ptr own() {
  return with_rank(std::make_exception_ptr(std::runtime_error("own")), 1);
}
std::exception_ptr timed_out() { return std::make_exception_ptr(TimedOut("timed out")); }
std::exception_ptr aborted() { return std::make_exception_ptr(Aborted("aborted")); }
std::exception_ptr lost() {
  return std::make_exception_ptr(NcclError("lost", {}, ncclRemoteError));
}

TEST_CASE("a rank's own failure counts most, then a deadline, then an error of NCCL") {
  struct Row {
    std::vector<std::exception_ptr> failures;
    std::string says;
  };
  const Row rows[] = {
      {{nullptr, nullptr}, ""},
      {{aborted(), own()}, "own"},
      {{timed_out(), own()}, "own"},
      {{lost(), own(), timed_out()}, "own"},
      {{lost(), timed_out(), aborted()}, "timed out"},
      {{aborted(), lost()}, "lost"},
      {{nullptr, timed_out()}, "timed out"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.says);
    // For threads, and for processes, which exchange bytes.
    std::vector<RankEnd> threads, processes;
    for (std::size_t rank = 0; rank < row.failures.size(); ++rank) {
      RankEnd end{.rank = static_cast<int>(rank), .failure = row.failures[rank]};
      end.log.rank = end.rank;
      threads.push_back(end);
      processes.push_back(rank_end_from_bytes(rank_end_to_bytes(end)));
    }
    for (const auto& ends : {threads, processes}) {
      const std::exception_ptr thrown = failure_of(ends, static_cast<int>(ends.size()));
      CHECK((thrown == nullptr) == row.says.empty());
      CHECK(contains(NcclRun::words(thrown), row.says));
    }
  }
}

TEST_CASE("the failure that came first is thrown, where that is known") {
  std::vector<RankEnd> ends = {{.rank = 0, .failure = own()}, {.rank = 1, .failure = aborted()}};
  ends[1].log.rank = 1;
  ends[0].log.rank = 0;
  const auto first = std::make_exception_ptr(InvalidArgument("first"));
  CHECK(NcclRun::words(failure_of(ends, 2, first)) == "first");
}

TEST_CASE("a process that is missing explains ranks that gave up, but not a rank's own failure") {
  const auto missing = std::make_exception_ptr(RankFailed("missing"));
  const std::vector<RankEnd> returned = {{.rank = 0}};
  const std::vector<RankEnd> gave_up = {{.rank = 0, .failure = aborted()}};
  const std::vector<RankEnd> threw = {{.rank = 0, .failure = own()}, {.rank = 1}};
  CHECK(NcclRun::words(failure_of(returned, 2, nullptr, missing)) == "missing");
  CHECK(NcclRun::words(failure_of(gave_up, 2, nullptr, missing)) == "missing");
  CHECK(NcclRun::words(failure_of(threw, 3, nullptr, missing)) == NcclRun::words(own()));
}

}  // namespace
}  // namespace rankbox::gpu
