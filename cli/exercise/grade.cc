#include "cli/exercise/grade.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exercise/reference_solutions.h"
#include "cli/picture/picture.h"
#include "cli/plugin/compile.h"
#include "cli/plugin/contained.h"
#include "cli/plugin/library_info.h"
#include "cli/plugin/plugin.h"
#include "cli/support/child.h"
#include "cli/support/container.h"
#include "cli/support/paths.h"
#include "cli/support/reserved_core.h"
#include "comm/errors.h"
#include "files/temporary_folder.h"

namespace rankbox::cli {

namespace fs = std::filesystem;

namespace {

/// A message between processes takes longer than one between threads.
constexpr double kSealedTimes = 3;

/// Of a verdict, in all processes: 24 ranks of 64 threads each, and the judge's own.
constexpr int kMostThreads = 2048;

/// Returns the replay line of the case in a reported one; empty if nothing is reported. What a
/// learner's process reports may be anything, and a user pastes it.
std::string replay_of(const Exercise& exercise, const std::string& reported,
                      const std::string& command) {
  if (reported.empty()) return "";
  const std::optional<Case> example = case_of_replay(exercise, reported);
  return example ? fmt::format("{} --replay {}", command, to_string(*example)) : command;
}

/// Returns the process that judges the library, in whichever way.
/// @param words the subcommand, with what it judges
/// @param temporary a folder for the program's files, removed afterwards
/// @param solution the compiled reference solution; empty: the promised cost does not need it
ContainedOptions judge_of(std::vector<std::string> words, const Exercise& exercise,
                          const std::string& library, const std::string& solution,
                          const std::string& source, const std::string& temporary,
                          const GradeOptions& options) {
  words.insert(words.end(), {"--command", options.command, "--salt", std::to_string(options.salt)});
  if (!options.replay.empty()) words.insert(words.end(), {"--replay", options.replay});
  if (!solution.empty()) words.insert(words.end(), {"--solution", solution});
  return {.words = std::move(words),
          .name = exercise.name,
          .function = exercise.name,
          .library = library,
          .source = source,
          .temporary = temporary,
          .seconds = options.seconds,
          .memory_mb = options.memory_mb,
          .tree_threads = kMostThreads};
}

Contained judge_in_threads(const Exercise& exercise, const std::string& library,
                           const std::string& solution, const std::string& source,
                           const std::string& temporary, const GradeOptions& options) {
  ContainedOptions contained = judge_of({"judge", exercise.name, library}, exercise, library,
                                        solution, source, temporary, options);
  contained.words.insert(contained.words.end(), {"--order", options.order});
  contained.in_container = true;
  if (!solution.empty()) contained.readable.push_back(solution);
  if (!options.picture.empty()) {
    const PictureOptions picture = picture_from_text(options.picture);
    contained.writable.push_back(picture.style.folder);
    contained.readable.push_back(source);  // a page shows its lines
    if (picture.cluster.starts_with('/')) contained.readable.push_back(picture.cluster);
    contained.words.insert(contained.words.end(), {"--picture", options.picture});
    contained.file_bytes = kMostPictureBytes;
    contained.tree_threads = 0;
  }
  Contained judged = run_contained(contained);
  if (std::optional<Failure>& failure = judged.verdict.failure)
    failure->replay = replay_of(exercise, failure->replay, options.command);
  return judged;
}

/// Judges with a process for each rank.
Contained judge_sealed(const Exercise& exercise, const std::string& library,
                       const std::string& solution, const std::string& source,
                       const TemporaryFolder& temporary, const GradeOptions& options) {
  std::vector<std::string> words = {"referee", exercise.name, library};
  for (const std::string& called : callable_solutions(exercise)) words.push_back(called);
  ContainedOptions contained =
      judge_of(std::move(words), exercise, library, solution, source, temporary.path(""), options);
  for (const std::string& file : source_files(display_path(source)))
    contained.words.insert(contained.words.end(), {"--file", file});
  // Rank processes take turns, so one core is faster when checks run in parallel (docs/judging.md).
  const ReservedCore core("sealed");
  if (core.number() >= 0) {
    contained.words.insert(contained.words.end(), {"--core", std::to_string(core.number())});
  }
  contained.is_trusted = true;
  contained.seconds *= kSealedTimes;
  return run_contained(contained);
}

/// Draws a run after the verdict, as a page. Where that fails, for whatever reason, there is none:
/// the verdict counts.
void draw_after(const Exercise& exercise, const std::string& library, const std::string& source,
                const std::string& temporary, const GradeOptions& options, const Verdict& verdict) {
  try {
    std::optional<PictureOptions> picture = picture_after(exercise, verdict);
    if (!picture) return;
    picture->style.folder = options.page_folder;
    picture->style.timeline = false;
    picture->style.html = true;
    GradeOptions drawing = options;
    drawing.picture = to_text(*picture);
    judge_in_threads(exercise, library, "", source, temporary, drawing);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {  // no picture
  }
}

void require_containers() {
  const std::string problem = container_problem();
  if (!problem.empty())
    throw Error("a sealed verdict needs containers: " + problem +
                "; leave out --sealed to judge without");
}

/// Returns the command without --sealed: for what only threads show.
std::string unsealed(std::string command) {
  constexpr std::string_view kOption = " --sealed";
  const std::size_t at = command.rfind(kOption);
  if (at != std::string::npos) command.erase(at, kOption.size());
  return command;
}

/// Ranks of other backends are processes. Here they are threads, and share static variables: a
/// likely cause of a result that differs from run to run.
void mention_statics(const Exercise& exercise, Verdict& verdict, const std::string& library) {
  Failure& failure = *verdict.failure;
  if (!sends_messages(exercise)) return;
  using enum FailureKind;
  if (failure.kind == kCost || failure.kind == kMessages || failure.kind == kTimeout) return;
  const std::string names = shared_statics(library);
  if (names.empty()) return;
  const std::size_t end = std::min(failure.message.find('\n'), failure.message.size());
  const std::string before = failure.message;
  failure.message.insert(
      end, fmt::format("; ranks are threads here, and all of them share what is static ({}): is it "
                       "meant to be a local variable?",
                       names));
  for (Check& check : verdict.checks) {
    if (check.detail == before) check.detail = failure.message;
  }
}

/// Warns of memory that only a sealed check counts: of allocations that bypass new, and of threads.
void mention_uncounted(const Exercise& exercise, Verdict& verdict, const std::string& library,
                       const GradeOptions& options) {
  if (subject_of(exercise).large_cases.empty()) return;
  constexpr const char* kCalls[] = {"malloc",   "calloc",         "realloc", "aligned_alloc",
                                    "memalign", "posix_memalign", "valloc",  "mmap"};
  const std::string undefined = undefined_names(library);
  const auto uses = [&](const std::string& symbol) {
    return undefined.find(" " + symbol + "\n") != std::string::npos ||
           undefined.find(" " + symbol + "@") != std::string::npos;
  };
  std::vector<std::string> found;
  std::ranges::copy_if(kCalls, std::back_inserter(found), uses);
  const bool starts_threads = uses("pthread_create") ||
                              undefined.find(" _ZNSt6thread15_M_start_thread") != std::string::npos;
  if (starts_threads) found.emplace_back("other threads");
  if (found.empty()) return;
  verdict.warnings.push_back(fmt::format(
      "memory from {} is not counted here; {} --sealed counts what a rank has of it in its calls",
      fmt::join(found, ", "), options.command));
}

/// Returns the verdict of a program that the referee passes and that fails in threads: ranks share
/// what is static, memory is counted to the byte, and all schedules of `race` are tried. The
/// process that reports it runs the program itself. So nothing of the report counts but that it
/// fails, and no check passes.
Verdict fails_in_threads(const Exercise& exercise, const Contained& threads,
                         const std::string& library, const GradeOptions& options) {
  Failure failure = *threads.verdict.failure;
  if (threads.reported) {
    using enum FailureKind;
    const bool before_running = failure.kind == kCompile || failure.kind == kNotImplemented;
    Failure ours;
    ours.kind = before_running ? kCrash : failure.kind;
    ours.file = display_path(fs::absolute(options.file).string());
    ours.message = fmt::format(
        "right where each rank is a process, and wrong ({}) where {} of one process: the command "
        "below shows it",
        name_of(failure.kind),
        sends_messages(exercise) ? "ranks are threads" : "it runs under all schedules");
    ours.replay = std::move(failure.replay);
    failure = std::move(ours);
  }
  failure.replay = replay_of(exercise, failure.replay, unsealed(options.command));
  Verdict verdict = failed_before_running(exercise.name, failure);
  mention_statics(exercise, verdict, library);
  return verdict;
}

/// Judges again what the referee passed and threads did not: the case that failed may not have been
/// in its sample.
/// @param sealed judges the case that it gets as text
Contained judge_again(const Exercise& exercise, const Contained& threads,
                      const std::string& library, const GradeOptions& options,
                      const std::function<Contained(const std::string&)>& sealed) {
  if (const auto example = case_of_replay(exercise, threads.verdict.failure->replay)) {
    Contained again = sealed(to_string(*example));
    if (!again.verdict.passed()) return again;
  }
  Contained judged = threads;
  judged.verdict = fails_in_threads(exercise, threads, library, options);
  return judged;
}

Verdict refused_call(const Exercise& exercise, const std::string& called,
                     const std::string& source) {
  Failure failure = {.kind = FailureKind::kCompile,
                     .file = display_path(source),
                     .line = line_of_function(source, called)};
  if (called == exercise.name) {
    failure.message = no_function(signature(exercise));
    return failed_before_running(exercise.name, failure);
  }
  failure.message = fmt::format(
      "{} is another exercise, which {} may not call: write it here, under another name", called,
      exercise.name);
  if (!exercise.calls.empty())
    failure.message += fmt::format("; it may call {}", fmt::join(exercise.calls, ", "));
  return failed_before_running(exercise.name, failure);
}

/// As grade, but throws where this machine is the reason that there is no verdict.
Grade grade_here(const Exercise& exercise, const GradeOptions& options) {
  const TemporaryFolder temporary;
  const std::string library = temporary.path("exercise.so");
  const std::string source = fs::absolute(options.file).string();

  Grade grade;
  // Relative to the root, files have short names in all messages.
  const std::string shown = display_path(source);
  Compiled compiled = compile(exercise, shown, library);
  grade.compiler_output = std::move(compiled.output);
  if (compiled.failure) {
    grade.verdict = verdict_of(exercise.name, compiled);
    return grade;
  }

  // Without sealing, the judge shows by its messages that it is another algorithm.
  const std::string called = options.sealed ? forbidden_call(exercise, library) : "";
  if (!called.empty()) {
    grade.verdict = refused_call(exercise, called, source);
    return grade;
  }

  std::string solution;
  if (is_cost_of_solution(exercise) && options.picture.empty())
    solution = reference_solution(exercise);
  const auto in_threads = [&] {
    return judge_in_threads(exercise, library, solution, source, temporary.path(""), options);
  };
  const auto sealed = [&](const std::string& replay) {
    GradeOptions replayed = options;
    replayed.replay = replay;
    return judge_sealed(exercise, library, solution, source, temporary, replayed);
  };
  Contained judged = options.sealed ? sealed(options.replay) : in_threads();
  if (options.sealed && judged.verdict.passed()) {
    const Contained threads = in_threads();
    if (!threads.verdict.passed())
      judged = judge_again(exercise, threads, library, options, sealed);
  }
  grade.program_output = std::move(judged.output);
  grade.verdict = std::move(judged.verdict);
  if (!options.page_folder.empty())
    draw_after(exercise, library, source, temporary.path(""), options, grade.verdict);
  if (!options.sealed && grade.verdict.passed())
    mention_uncounted(exercise, grade.verdict, library, options);
  if (grade.verdict.status != Status::kFail) return grade;
  check_has_space(temporary.path(""));
  if (!options.sealed) mention_statics(exercise, grade.verdict, library);
  return grade;
}

}  // namespace

Grade grade(const Exercise& exercise, const GradeOptions& options) {
  require_readable(options.file);
  if (options.sealed) require_containers();
  if (!options.replay.empty()) replayed_case(options.replay, cases_to_replay(subject_of(exercise)));
  std::string why;
  try {
    return grade_here(exercise, options);
  } catch (const NoTemporaryFiles& problem) {
    why = problem.what();
  } catch (const std::system_error& problem) {  // no process, no descriptors
    why = problem.what();
  }
  Grade grade;
  grade.verdict = error_of_ours(exercise.name, why);
  return grade;
}

}  // namespace rankbox::cli
