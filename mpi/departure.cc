#include "mpi/departure.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "mpi/check.h"

namespace rankbox::mpi {
namespace {

constexpr int kFailureTag = 1;
constexpr int kDepartureTag = 2;
// Looks at the others before this process sleeps in between.
constexpr int kLooksAtLobby = 200;

}  // namespace

Departure::Departure(const Environment& environment, double patience_seconds)
    : environment_(environment),
      patience_seconds_(patience_seconds),
      heard_failure_(static_cast<std::size_t>(environment.size)),
      heard_departure_(static_cast<std::size_t>(environment.size)) {}

bool Departure::hears_of_failure() {
  int there = 0;
  MPI_Status status;
  check(MPI_Iprobe(MPI_ANY_SOURCE, kFailureTag, environment_.lobby, &there, &status), "MPI_Iprobe");
  if (there == 0) return knows_of_failure();
  Notice notice;
  check(MPI_Recv(&notice, sizeof(Notice), MPI_BYTE, status.MPI_SOURCE, kFailureTag,
                 environment_.lobby, MPI_STATUS_IGNORE),
        "MPI_Recv");
  heard_failure_[static_cast<std::size_t>(status.MPI_SOURCE)] = true;
  if (state_ == Farewell::State::kReturned) {
    state_ = Farewell::State::kStopped;
    cause_ = notice.text.data();
    cause_is_disagreement_ = notice.disagreed;
  }
  return true;
}

void Departure::tell_failure(const std::string& cause, bool disagreed) {
  if (knows_of_failure() || is_over()) return;
  state_ = Farewell::State::kFailed;
  cause_ = cause;
  cause_is_disagreement_ = disagreed;
  notice_.disagreed = disagreed;
  std::copy_n(cause.begin(), std::min(cause.size(), notice_.text.size() - 1), notice_.text.begin());
  for (int process = 0; process < environment_.size; ++process) {
    if (process == environment_.rank) continue;
    check(MPI_Isend(&notice_, sizeof(Notice), MPI_BYTE, process, kFailureTag, environment_.lobby,
                    &requests_.emplace_back()),
          "MPI_Isend");
  }
}

void Departure::tell_departure() {
  if (told_departure_) return;
  told_departure_ = true;
  for (int process = 0; process < environment_.size; ++process) {
    if (process == environment_.rank) continue;
    check(MPI_Isend(nullptr, 0, MPI_BYTE, process, kDepartureTag, environment_.lobby,
                    &requests_.emplace_back()),
          "MPI_Isend");
  }
}

bool Departure::has_left(const std::vector<int>& processes) {
  for (const int process : processes) {
    const auto at = static_cast<std::size_t>(process);
    if (process == environment_.rank) continue;
    int there = 0;
    if (!heard_departure_[at]) {
      check(MPI_Iprobe(process, kDepartureTag, environment_.lobby, &there, MPI_STATUS_IGNORE),
            "MPI_Iprobe");
    }
    if (there != 0) {
      check(MPI_Recv(nullptr, 0, MPI_BYTE, process, kDepartureTag, environment_.lobby,
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
      heard_departure_[at] = true;
    }
    if (heard_departure_[at]) return true;
  }
  return false;
}

void Departure::say_farewell(Farewell mine) {
  mine.state = state_;
  if (knows_of_failure()) tell_departure();

  std::vector<Farewell> all(static_cast<std::size_t>(environment_.size));
  all[static_cast<std::size_t>(environment_.rank)] = mine;
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), sizeof(Farewell), MPI_BYTE,
                       environment_.lobby, &request),
        "MPI_Iallgather");
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point then) {
    return std::chrono::duration<double>(Clock::now() - then).count();
  };
  const Clock::time_point begin = Clock::now();
  Clock::time_point stopped = begin;  // when this process began to wait for the others to stop
  for (int look = 0;; ++look) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) break;
    if (look < kLooksAtLobby) continue;
    // Others may wait for this process, and must hear that they do so in vain.
    if (!knows_of_failure()) stopped = Clock::now();
    if (hears_of_failure()) tell_departure();
    if (knows_of_failure() && seconds_since(stopped) > patience_seconds_)
      end_all_processes("the other ranks did not stop");
    // Ranks that have returned may wait for long, and leave the cores to those that work.
    std::this_thread::sleep_for(std::chrono::microseconds(seconds_since(begin) < 1e-3 ? 0 : 50));
  }
  farewells_ = std::move(all);
}

bool Departure::has_failed() const {
  return std::any_of(farewells_.begin(), farewells_.end(),
                     [](const Farewell& each) { return each.state != Farewell::State::kReturned; });
}

void Departure::settle() {
  if (has_failed()) tell_departure();
  const auto take = [&](int process, int tag) {
    Notice notice;
    check(MPI_Recv(&notice, sizeof(Notice), MPI_BYTE, process, tag, environment_.lobby,
                   MPI_STATUS_IGNORE),
          "MPI_Recv");
  };
  for (int process = 0; process < environment_.size && has_failed(); ++process) {
    const auto at = static_cast<std::size_t>(process);
    if (process == environment_.rank) continue;
    const bool told = farewells_[at].state == Farewell::State::kFailed;
    if (told && !heard_failure_[at]) take(process, kFailureTag);
    if (!heard_departure_[at]) take(process, kDepartureTag);
  }
  check(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
  requests_.clear();
}

void Departure::end_all_processes(const std::string& why) const {
  fmt::print(stderr, "rankbox: {}\nrankbox: {} within {:.3g} s; ending all processes\n", cause_,
             why, patience_seconds_);
  mpi::end_all_processes();
}

}  // namespace rankbox::mpi
