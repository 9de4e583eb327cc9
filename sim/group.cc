#include "sim/group.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "comm/communicator_name.h"
#include "sim/wait.h"
#include "sim/world.h"

namespace rankbox::sim {
namespace {

void fail(const std::vector<CollectiveOperation*>& ranks, const CollectiveMismatch& mismatch) {
  for (CollectiveOperation* rank : ranks) {
    rank->operation.mismatch =
        std::make_unique<Mismatch>(Mismatch{mismatch.what(), -1, mismatch.context()});
    rank->operation.outcome.store(Outcome::kMismatch, std::memory_order_relaxed);
    complete(rank->operation);
  }
}

}  // namespace

Group::Group(World& world, int id, std::vector<int> members, std::vector<int> path, Place made,
             bool closed)
    : world_(world),
      id_(id),
      members_(std::move(members)),
      path_(std::move(path)),
      made_(made),
      mailboxes_(members_.size(), closed),
      short_collectives_(world, members_, closed),
      jobs_closed_(closed),
      next_job_(members_.size()) {}

std::string Group::in_words(int world_rank, int peer) const {
  return id_ == 0 ? "" : ranks_in_communicator(members_, name(), world_rank, peer);
}

std::string Group::in_words() const { return id_ == 0 ? "" : fmt::format(", in {}", name()); }

std::string Group::name() const {
  return communicator_name(members_, made_.file_name(), static_cast<int>(made_.line()),
                           1 + world_.repeated_by(*this));
}

bool Group::repeats(const Group& other) const {
  return other.id_ < id_ && other.made_.line() == made_.line() &&
         std::string_view(other.made_.file_name()) == made_.file_name() &&
         other.members_ == members_;
}

CollectiveJob& Group::free_job() {
  for (CollectiveJob& job : all_jobs_) {
    if (!job.is_free()) continue;
    job.reset();
    return job;
  }
  return all_jobs_.emplace_back(*this);
}

void Group::arrive(int index, CollectiveOperation& operation) {
  CollectiveJob* job = nullptr;
  bool last = false;
  std::optional<CollectiveMismatch> mismatch;
  std::vector<CollectiveOperation*> mismatched;  // all ranks, if their calls differ
  {
    const Lock guard(jobs_lock_);
    if (!jobs_closed_) {
      const std::int64_t number = next_job_[static_cast<std::size_t>(index)]++;
      if (number - first_job_ == static_cast<std::int64_t>(jobs_.size())) {
        jobs_.push_back(&free_job());
        jobs_.back()->enter();  // the queue holds a reference, too: the job must not be reused
      }
      job = jobs_[static_cast<std::size_t>(number - first_job_)];
      operation.operation.job = job;
      last = job->arrive(index, operation);
      if (last) {
        mismatch = job->differs() ? job->mismatch() : job->piece_mismatch();
        if (mismatch) mismatched = job->take_arrived();
        // Usually the oldest; not if a rank withdrew from an older one, which will never complete.
        jobs_[static_cast<std::size_t>(number - first_job_)] = nullptr;
        job->leave();  // for the queue
        for (; !jobs_.empty() && jobs_.front() == nullptr; ++first_job_) jobs_.pop_front();
      }
    }
  }
  if (job == nullptr) {
    operation.operation.outcome.store(Outcome::kStopped, std::memory_order_relaxed);
    operation.operation.state.store(kDone, std::memory_order_relaxed);
  } else if (mismatch) {
    fail(mismatched, *mismatch);
  } else if (last) {
    job->run(index);
  }
}

bool Group::fail_if_calls_differ() {
  std::optional<CollectiveMismatch> mismatch;
  std::vector<CollectiveOperation*> mismatched;
  {
    const Lock guard(jobs_lock_);
    for (CollectiveJob* job : jobs_) {
      if (job == nullptr || !job->differs() || !job->is_waited_for()) continue;
      mismatch = job->mismatch();
      if (!mismatch) continue;
      mismatched = job->take_arrived();
      break;
    }
  }
  if (mismatch) fail(mismatched, *mismatch);
  return mismatch.has_value();
}

bool Group::withdraw(CollectiveOperation& operation) {
  const Lock guard(jobs_lock_);
  const bool incomplete =
      std::find(jobs_.begin(), jobs_.end(), operation.operation.job) != jobs_.end();
  return incomplete && operation.operation.job->withdraw(operation);
}

void Group::close() {
  short_collectives_.close();
  std::deque<CollectiveJob*> jobs;
  {
    const Lock guard(jobs_lock_);
    jobs_closed_ = true;
    jobs.swap(jobs_);
  }
  for (CollectiveJob* job : jobs) {
    if (job != nullptr) job->stop();
  }
  mailboxes_.close();
}

std::vector<Channel::Leftover> Group::leftovers() {
  std::vector<Channel::Leftover> found = mailboxes_.leftovers();
  for (Channel::Leftover& leftover : found) leftover.group = this;
  return found;
}

}  // namespace rankbox::sim
