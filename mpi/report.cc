#include "mpi/report.h"

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "comm/error_bytes.h"
#include "comm/errors.h"
#include "comm/post_mortem.h"
#include "comm/result_bytes.h"
#include "comm/run_failure.h"
#include "mpi/environment.h"

namespace rankbox::mpi {

/// A rank's report of its end, sent to the others.
struct RankReport {
  std::string error;  // serialized; empty: the rank has no error itself
  FlightLog log;
};
inline auto fields_of(RankReport& report) { return std::tie(report.error, report.log); }

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kReportTag = 1;

/// The ranks' reports received so far. Ignores MPI errors: a rank may be gone.
class Reports {
 public:
  Reports(const RankReport& mine, int world_size)
      : rank_(mine.log.rank),
        bytes_(to_bytes(mine)),
        sends_(static_cast<std::size_t>(world_size), MPI_REQUEST_NULL),
        reports_(static_cast<std::size_t>(world_size)) {
    reports_[static_cast<std::size_t>(rank_)] = mine;
    missing_ = world_size - 1;
    for (int rank = 0; rank < world_size; ++rank) {
      if (rank == rank_) continue;
      MPI_Isend(bytes_.data(), static_cast<int>(bytes_.size()), MPI_BYTE, rank, kReportTag,
                environment().control, &sends_[static_cast<std::size_t>(rank)]);
    }
  }
  Reports(const Reports&) = delete;
  Reports& operator=(const Reports&) = delete;

  /// Progresses sends and receives until `done` returns true, or for this many seconds.
  template <class Done>
  void progress(double seconds, Done done) {
    const SteadyClock::time_point end =
        SteadyClock::now() +
        std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
    while (!done() && SteadyClock::now() < end) {
      look();
      int all = 0;
      MPI_Testall(static_cast<int>(sends_.size()), sends_.data(), &all, MPI_STATUSES_IGNORE);
      std::this_thread::yield();
    }
  }

  bool are_complete() const { return missing_ == 0; }
  const std::vector<std::optional<RankReport>>& all() const { return reports_; }
  /// Returns whether this is the lowest rank that has reported, which prints for all.
  bool is_mine_to_print() const {
    for (int rank = 0; rank < rank_; ++rank) {
      if (reports_[static_cast<std::size_t>(rank)]) return false;
    }
    return true;
  }

 private:
  struct Receive {
    int rank = -1;
    std::string bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void look() {
    int there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    if (MPI_Improbe(MPI_ANY_SOURCE, kReportTag, environment().control, &there, &message, &status) ==
            MPI_SUCCESS &&
        there != 0) {
      int size = 0;
      MPI_Get_count(&status, MPI_BYTE, &size);
      Receive& receive = receives_.emplace_back();
      receive.rank = status.MPI_SOURCE;
      receive.bytes.resize(static_cast<std::size_t>(size));
      MPI_Imrecv(receive.bytes.data(), size, MPI_BYTE, &message, &receive.request);
    }
    for (Receive& receive : receives_) {
      if (receive.rank < 0) continue;
      int done = 0;
      if (MPI_Test(&receive.request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done == 0)
        continue;
      reports_[static_cast<std::size_t>(receive.rank)] = from_bytes<RankReport>(receive.bytes);
      receive.rank = -1;
      --missing_;
    }
  }

  const int rank_;
  const std::string bytes_;
  std::vector<MPI_Request> sends_;  // [rank]
  std::deque<Receive> receives_;
  std::vector<std::optional<RankReport>> reports_;  // [rank]
  int missing_ = 0;
};

bool is_time_out(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const TimedOut&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// Returns the most certain known cause: a mismatch, then a rank's own error, then a timeout.
RunFailure first_cause(const std::vector<std::optional<RankReport>>& reports) {
  const int world_size = static_cast<int>(reports.size());
  std::vector<FlightLog> logs;
  std::exception_ptr own;
  std::exception_ptr late;
  for (const std::optional<RankReport>& report : reports) {
    if (!report) continue;
    logs.push_back(report->log);
    if (report->error.empty()) continue;
    const std::exception_ptr error = error_from_bytes(report->error);
    std::exception_ptr& first = is_time_out(error) ? late : own;
    if (first == nullptr) first = error;
  }
  PostMortem found = post_mortem(logs);
  RunFailure failure;
  if (found.is_mismatch()) {
    failure.error = error_of(found, "");
  } else if (own != nullptr) {
    failure.error = own;
  } else if (found.kind == PostMortem::Kind::kStuck || late == nullptr) {
    found.text = "timed out: " + found.text;
    failure.error = error_of(found, "");
  } else {
    failure.error = late;
  }
  if (!is_users_mistake(failure.error)) {
    failure.details = fmt::format("what each rank did last:\n{}{}\n",
                                  last_operations(logs, world_size), sandbox_hint(world_size));
  }
  return failure;
}

}  // namespace

bool another_rank_failed() {
  int there = 0;
  const int code =
      MPI_Iprobe(MPI_ANY_SOURCE, kReportTag, environment().control, &there, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS && there != 0;
}

void end_failed_run(const std::exception_ptr& error, const FlightLog& log, int world_size) {
  Reports reports({error == nullptr ? "" : error_to_bytes(error), log}, world_size);
  reports.progress(kPatienceSeconds, [&] { return reports.are_complete(); });
  // The rank that prints ends this process as well, unless it dies first.
  if (!reports.is_mine_to_print()) reports.progress(kPatienceSeconds, [] { return false; });
  end_all_processes(handle_failure(first_cause(reports.all())));
}

}  // namespace rankbox::mpi
