#include "cli/plugin/verdict_report.h"

#include <cstdio>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

#include "cli/support/child.h"
#include "files/fd.h"
#include "judge/stop_report.h"
#include "judge/verdict_json.h"

namespace rankbox::cli {

namespace {

void (*before_stop)() = nullptr;

/// Safe in a signal handler.
void write_stop(std::string_view line) {
  if (before_stop != nullptr) before_stop();
  (void)!write(kReportFd, line.data(), line.size());
}

/// Reports the code of a failure whose line is unknown; once, since other throws may follow.
void report_place(const Verdict& verdict) {
  static bool is_reported = false;
  if (is_reported || !verdict.failure || verdict.failure->line != 0) return;
  is_reported = true;
  const std::string thrown = last_throw_of(verdict.failure->rank);
  const std::string place = thrown.empty() ? offset_of(verdict.failure->code) : thrown;
  if (!place.empty()) report_line("at " + place);
}

}  // namespace

void report_stops_to_parent(void (*before)()) {
  before_stop = before;
  fcntl(kReportFd, F_SETFD, FD_CLOEXEC);  // no other program may report
  report_stops(write_stop);
}

void report_line(const std::string& line) {
  if (!write_all(kReportFd, line + "\n")) _exit(1);  // the parent is gone
}

LearnersFunction load_learners_function(const std::string& name, const std::string& library,
                                        const std::string& signature) {
  report_line("loading " + library);  // its code may run from here on
  const LoadedFunction loaded = load_function(library, signature);
  set_library(loaded.entry);
  if (loaded.function == nullptr) {
    report_and_exit(
        failed_before_running(name, {.kind = FailureKind::kCompile, .message = loaded.problem}));
  }
  return loaded.function;
}

void report_failing(const Verdict& verdict) {
  report_place(verdict);
  report_line("failing " + to_json(verdict));
}

void report_and_exit(const Verdict& verdict) {
  report_place(verdict);
  report_line("verdict " + to_json(verdict));
  done_reporting();
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace rankbox::cli
