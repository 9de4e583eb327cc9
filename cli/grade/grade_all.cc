#include "cli/grade/grade_all.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "cli/grade/progress.h"
#include "cli/support/child.h"
#include "cli/support/now.h"
#include "cli/support/terminal.h"

namespace rankbox::cli {
namespace {

GradeResult undone(const GradingTask& task, const std::string& why) {
  GradeResult result;
  result.verdict = error_of_ours(task.exercise->name, why, FailureKind::kTimeout);
  return result;
}

/// The threads that grade, and what they share.
class Workers {
 public:
  Workers(std::vector<GradingTask>& tasks, ResultStore& store, const GradeAllOptions& options)
      : tasks_(tasks), store_(store), options_(options), begin_(now()) {}

  void run() {
    StatusLine line(progress());
    LogPace pace;
    const bool is_log = isatty(STDERR_FILENO) == 0;
    std::vector<std::thread> threads;
    const int count = std::min<int>(options_.jobs, static_cast<int>(tasks_.size()));
    running_ = count;
    for (int i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    {
      std::unique_lock lock(mutex_);
      std::size_t shown = 0;
      while (running_ > 0) {
        changed_.wait_for(lock, std::chrono::milliseconds(200));
        if (done_ != shown) line.rename(progress());
        shown = done_;
        line.tick();
        if (is_log && pace.is_due(now() - begin_, done_, tasks_.size()))
          fmt::print(stderr, "{}\n", progress());
      }
    }
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::string progress() const {
    return fmt::format("graded {} of {} files", done_, tasks_.size());
  }

  void work() {
    std::unique_lock lock(mutex_);
    while (next_ < tasks_.size() && !failure_) {
      GradingTask& task = tasks_[next_++];
      try {
        finish(task, lock);
      } catch (...) {
        if (!lock.owns_lock()) lock.lock();
        if (!failure_) failure_ = std::current_exception();
      }
      ++done_;
      changed_.notify_all();
    }
    --running_;
    changed_.notify_all();
  }

  /// Sets the task's result. The lock is held before and after, not while a file is graded.
  void finish(GradingTask& task, std::unique_lock<std::mutex>& lock) {
    InterruptGuard::check();
    lock.unlock();
    SourceText source;
    std::string key;
    try {
      source = read_source(task.file->path, options_.with_helpers);
      key = key_of(source, *task.exercise, options_.file);
    } catch (const std::exception& error) {
      lock.lock();
      task.result = undone(task, error.what());
      return;
    }
    lock.lock();
    task.left_out = source.left_out;

    while (in_progress_.contains(key)) changed_.wait(lock);  // another student's equal file
    const GradeResult* known = store_.find(key);
    if (known != nullptr) task.result = *known;
    const bool is_needed = known == nullptr || !is_complete(*known, options_.file);
    if (is_needed && !failure_ && (known != nullptr || !is_over(task)))
      task.result = grade_one(source, key, task, lock);
    spent_[task.student] += task.result.seconds;
    const Verdict& verdict = task.result.verdict;
    if (options_.file.pictures && verdict.status == Status::kFail)
      task.code = excerpt_of(source, task.exercise->name + ".cc", *verdict.failure);
  }

  /// Returns whether no time is left for the task, whose result then says so.
  bool is_over(GradingTask& task) {
    const double student = options_.seconds_per_student;
    if (student > 0 && spent_[task.student] >= student) {
      task.result =
          undone(task, fmt::format("the {:g} s of --seconds-per-student are used up", student));
      return true;
    }
    const double all = options_.seconds_in_all;
    if (all > 0 && now() - begin_ >= all) {
      task.result = undone(task, fmt::format("the {:g} s of --seconds-in-all are used up", all));
      return true;
    }
    return false;
  }

  GradeResult grade_one(const SourceText& source, const std::string& key, const GradingTask& task,
                        std::unique_lock<std::mutex>& lock) {
    in_progress_.insert(key);
    const GradeResult* known = store_.find(key);
    const std::optional<GradeResult> before =
        known == nullptr ? std::nullopt : std::optional(*known);
    lock.unlock();
    GradeResult result;
    std::exception_ptr problem;
    try {
      result = grade_source(source, *task.exercise, options_.file, before ? &*before : nullptr);
    } catch (...) {
      problem = std::current_exception();
    }
    lock.lock();
    in_progress_.erase(key);
    changed_.notify_all();
    if (problem) std::rethrow_exception(problem);
    if (result.verdict.status != Status::kError) store_.add(key, result);
    return result;
  }

  std::vector<GradingTask>& tasks_;
  ResultStore& store_;
  const GradeAllOptions& options_;
  const double begin_;

  std::mutex mutex_;  // guards all below, the store, and the results
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::size_t done_ = 0;
  int running_ = 0;
  std::set<std::string> in_progress_;
  std::map<std::size_t, double> spent_;  // [student] seconds
  std::exception_ptr failure_;
};

}  // namespace

void grade_all(std::vector<GradingTask>& tasks, ResultStore& store,
               const GradeAllOptions& options) {
  if (tasks.empty()) return;
  Workers(tasks, store, options).run();
}

}  // namespace rankbox::cli
