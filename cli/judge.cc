#include "cli/judge.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <cxxabi.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/compile.h"
#include "cli/paths.h"
#include "cli/stop_report.h"
#include "verdict/verdict_json.h"

namespace rankbox::cli {

namespace {

struct Options {
  std::string name;
  std::string library;
  std::string replay;
  std::string command;
};

void report_line(const std::string& line) {
  const std::string whole = line + "\n";
  for (std::size_t sent = 0; sent < whole.size();) {
    const ssize_t wrote = write(kReportFd, whole.data() + sent, whole.size() - sent);
    if (wrote <= 0) _exit(1);  // nobody listens any more
    sent += static_cast<std::size_t>(wrote);
  }
}

Verdict cannot_load(const Exercise& exercise, const std::string& why) {
  Failure failure;
  failure.kind = FailureKind::kCompile;
  failure.message = why;
  return failed_before_running(exercise.name, failure);
}

// "/tmp/…/exercise.so: undefined symbol: _ZN7rankbox6helperE…", in words a C++ programmer knows.
std::string load_error() {
  std::string error = dlerror();
  const std::string symbol = error.substr(error.rfind(' ') + 1);
  int status = 0;
  char* readable = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (status != 0) return error;
  std::string message = fmt::format("{} is called, but defined nowhere", readable);
  std::free(readable);
  return message;
}

Verdict judge_library(const Exercise& exercise, const Options& options) {
  void* library = dlopen(options.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return cannot_load(exercise, load_error());
  const auto entry = reinterpret_cast<AnyFunction (*)()>(dlsym(library, "rankbox_exercise"));
  if (entry == nullptr) return cannot_load(exercise, dlerror());
  set_library(reinterpret_cast<void*>(entry));

  // A missing function is found all the same: the solution of that name, in this program.
  const AnyFunction function = entry();
  Dl_info of_entry = {};
  Dl_info of_function = {};
  dladdr(reinterpret_cast<void*>(entry), &of_entry);
  dladdr(reinterpret_cast<void*>(function), &of_function);
  if (of_entry.dli_fbase != of_function.dli_fbase) {
    return cannot_load(exercise,
                       fmt::format("there is no function {}: is it in namespace rankbox, with "
                                   "just these parameters?",
                                   signature(exercise)));
  }

  JudgeOptions judge_options;
  judge_options.command = options.command;
  judge_options.replay = options.replay;
  judge_options.starting = [](const std::string& replay_line) {
    report_line("case " + replay_line);
  };
  judge_options.entering = use_signal_stack;
  return judge_exercise(exercise, function, judge_options);
}

[[noreturn]] void run(const Options& options) {
  report_stops();
  const Verdict verdict = judge_library(exercise_named(options.name), options);
  if (verdict.failure && verdict.failure->line == 0) {
    const std::string thrown = last_throw_of(verdict.failure->rank);
    if (!thrown.empty()) report_line("thrown " + thrown);
  }
  report_line("verdict " + to_json(verdict));
  done_reporting();
  // Threads that the learner left behind may still run: no destructors under their feet.
  std::fflush(nullptr);
  _exit(0);
}

}  // namespace

void add_judge(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* judge = app.add_subcommand("judge", "judges a compiled exercise (for internal use)");
  judge->group("");  // hidden
  judge->add_option("name", options->name)->required();
  judge->add_option("library", options->library)->required();
  judge->add_option("--replay", options->replay);
  judge->add_option("--command", options->command);
  judge->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
