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

#include "cli/exercise/reference_solutions.h"
#include "cli/picture/picture.h"
#include "cli/plugin/compile.h"
#include "cli/plugin/contained.h"
#include "cli/plugin/shared_statics.h"
#include "cli/support/child.h"
#include "cli/support/container.h"
#include "cli/support/paths.h"
#include "cli/support/reserved_core.h"
#include "comm/errors.h"
#include "files/temporary_folder.h"
#include "seal/referee/referee.h"

namespace rankbox::cli {

namespace fs = std::filesystem;

namespace {

/// A message between processes takes longer than one between threads.
constexpr double kSealedTimes = 3;

/// @param temporary a folder for the program's files, removed afterwards
/// @param solution the compiled reference solution; empty: the promised cost does not need it
Contained judge(const Exercise& exercise, const std::string& library, const std::string& solution,
                const std::string& source, const std::string& temporary,
                const GradeOptions& options) {
  ContainedOptions contained;
  contained.words = {"judge", exercise.name, library, "--command", options.command};
  if (options.salt != 0) {
    contained.words.insert(contained.words.end(), {"--salt", std::to_string(options.salt)});
  }
  if (!options.replay.empty()) {
    contained.words.insert(contained.words.end(), {"--replay", options.replay});
  }
  if (!solution.empty()) {
    contained.words.insert(contained.words.end(), {"--solution", solution});
  }
  contained.in_container = true;
  if (!solution.empty()) contained.readable.push_back(solution);
  if (!options.picture.empty()) {
    const PictureOptions picture = picture_from_text(options.picture);
    contained.writable.push_back(picture.style.folder);
    contained.readable.push_back(source);  // a page shows its lines
    if (picture.cluster.starts_with('/')) contained.readable.push_back(picture.cluster);
    contained.words.insert(contained.words.end(), {"--picture", options.picture});
    contained.file_bytes = kMostPictureBytes;
  }
  contained.name = contained.function = exercise.name;
  contained.library = library;
  contained.source = source;
  contained.temporary = temporary;
  contained.seconds = options.seconds;
  contained.memory_mb = options.memory_mb;
  return run_contained(contained);
}

/// Judges with a process for each rank.
Contained judge_sealed(const Exercise& exercise, const std::string& library,
                       const std::string& solution, const std::string& source,
                       const TemporaryFolder& temporary, const GradeOptions& options) {
  const std::vector<std::string> called = called_solutions(exercise, library);
  ContainedOptions contained;
  contained.words = {"referee", exercise.name, library};
  contained.words.insert(contained.words.end(), called.begin(), called.end());
  contained.words.insert(contained.words.end(), {"--command", options.command});
  contained.words.insert(contained.words.end(), {"--salt", std::to_string(options.salt)});
  if (!options.replay.empty()) {
    contained.words.insert(contained.words.end(), {"--replay", options.replay});
  }
  if (!solution.empty()) {
    contained.words.insert(contained.words.end(), {"--solution", solution});
  }
  // Rank processes take turns, so one core is faster when checks run in parallel (docs/judging.md).
  const ReservedCore core("sealed");
  if (core.number() >= 0) {
    contained.words.insert(contained.words.end(), {"--core", std::to_string(core.number())});
  }
  contained.name = contained.function = exercise.name;
  contained.library = library;
  contained.source = source;
  contained.temporary = temporary.path("");
  contained.seconds = kSealedTimes * options.seconds;
  contained.memory_mb = options.memory_mb;
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
    judge(exercise, library, "", source, temporary, drawing);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception&) {  // no picture
  }
}

void require_containers() {
  const std::string problem = container_problem();
  if (!problem.empty())
    throw Error("a sealed verdict needs containers: " + problem + "; --unsealed goes without");
}

/// Returns whether the rank that is blamed may be another one in the next run: of several that go
/// wrong, it is the first in time.
bool depends_on_schedule(const Failure& failure) {
  using enum FailureKind;
  switch (failure.kind) {
    case kDeadlock:
    case kMismatch:
    case kUnreceived:
    case kSafety:
      return true;
    case kCrash:
      return !failure.op.empty();  // not a signal's
    default:
      return false;
  }
}

/// Replaces a failure that depends on the schedule of threads by the failure of the same case under
/// the referee, where ranks run in a fixed order. Two gradings of a file then report the same rank.
void make_reproducible(Verdict& verdict, const std::function<Verdict(const std::string&)>& sealed) {
  static constexpr std::string_view kReplay = " --replay ";
  if (!verdict.failure || !depends_on_schedule(*verdict.failure)) return;
  const std::string& line = verdict.failure->replay;
  const std::size_t at = line.find(kReplay);
  const Verdict again = sealed(at == std::string::npos ? "" : line.substr(at + kReplay.size()));
  // It may also fail otherwise: the referee cannot start, or a rank's process ends.
  if (again.status != Status::kFail || !again.failure || !depends_on_schedule(*again.failure) ||
      again.failure->kind != verdict.failure->kind)
    return;
  verdict.failure = again.failure;
  const std::string name = check_named_after(again.failure->kind);
  if (const Check* check = again.find(name); check != nullptr)
    std::ranges::replace_if(
        verdict.checks, [&](const Check& c) { return c.name == name; }, *check);
}

/// Ranks of other backends are processes. Here they are threads, and share static variables: a
/// likely cause of a result that differs from run to run.
void mention_statics(Verdict& verdict, const std::string& library) {
  Failure& failure = *verdict.failure;
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
    grade.verdict = failed_before_running(exercise.name, *compiled.failure);
    if (compiled.is_ours) grade.verdict.status = Status::kError;
    return grade;
  }

  std::string solution;
  if (is_cost_of_solution(exercise) && options.picture.empty())
    solution = reference_solution(exercise);
  Contained judged = judge(exercise, library, solution, source, temporary.path(""), options);
  grade.program_output = std::move(judged.output);
  grade.verdict = std::move(judged.verdict);
  const auto sealed = [&](const std::string& replay) {
    if (seal::sealed_function(exercise.family) == nullptr)
      throw Error("seal/signatures.h has no row for the family " + exercise.family);
    GradeOptions replayed = options;
    replayed.replay = replay;
    return judge_sealed(exercise, library, solution, source, temporary, replayed).verdict;
  };
  const bool is_sealed = options.sealed && grade.verdict.passed();
  if (is_sealed) {
    grade.verdict = sealed(options.replay);
  } else if (options.sealed && sends_messages(exercise)) {  // others do not depend on luck
    make_reproducible(grade.verdict, sealed);
  }
  if (!options.page_folder.empty())
    draw_after(exercise, library, source, temporary.path(""), options, grade.verdict);
  if (grade.verdict.status != Status::kFail) return grade;
  check_has_space(temporary.path(""));
  // In a sealed run ranks are processes, which share nothing.
  if (sends_messages(exercise) && !is_sealed) mention_statics(grade.verdict, library);
  return grade;
}

}  // namespace

Grade grade(const Exercise& exercise, const GradeOptions& options) {
  require_readable(options.file);
  if (options.sealed) require_containers();
  if (!options.replay.empty()) parse_case(options.replay, first_case_of(exercise));
  std::string why;
  try {
    return grade_here(exercise, options);
  } catch (const NoTemporaryFiles& problem) {
    why = problem.what();
  } catch (const std::system_error& problem) {  // no process, no descriptors
    why = problem.what();
  }
  Failure failure;
  failure.kind = FailureKind::kCrash;
  failure.message = why;
  Grade grade;
  grade.verdict = failed_before_running(exercise.name, failure);
  grade.verdict.status = Status::kError;
  return grade;
}

}  // namespace rankbox::cli
