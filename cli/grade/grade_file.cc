#include "cli/grade/grade_file.h"

#include <exception>
#include <fstream>
#include <iterator>
#include <optional>

#include <fmt/format.h>

#include "cli/exercise/grade.h"
#include "cli/grade/foreign_waits.h"
#include "cli/grade/result.h"
#include "cli/picture/picture.h"
#include "cli/support/child.h"
#include "cli/support/now.h"
#include "cli/support/paths.h"
#include "comm/errors.h"
#include "files/foreign_file.h"
#include "files/git_blob.h"
#include "files/output_file.h"
#include "files/temporary_folder.h"
#include "judge/salt.h"
#include "judge/visible_text.h"

namespace rankbox::cli {

namespace {

constexpr std::size_t kMostPrinted = 4096;
constexpr int kColumns = 100;  // of a picture
constexpr std::size_t kMostDrawnBytes = std::size_t{64} * 1024;

std::string text_or_nothing(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Returns what all results depend on: this program, and the course.
const std::string& fingerprint_of_grader() {
  static const std::string all = git_blob_id(text_or_nothing("/proc/self/exe")) +
                                 git_blob_id(text_or_nothing(absolute_path(registry().source)));
  return all;
}

/// Returns the ids of the file and its helpers.
std::string id_of(const SourceText& source) {
  std::string ids = git_blob_id(source.refused.empty() ? source.text : source.refused);
  for (const SourceText::Helper& helper : source.helpers)
    ids += git_blob_id(helper.name) + git_blob_id(helper.text);
  return ids;
}

/// Removes the folder from a text, as an absolute path and as messages show it, and what is not fit
/// to print.
std::string neutral(std::string text, const std::string& folder) {
  for (const std::string& written : {folder, display_path(folder + "x")}) {
    const std::size_t end = written.rfind('/');
    if (end != std::string::npos) replace_all(text, written.substr(0, end + 1), "");
  }
  return visible_text(text);
}

void make_neutral(Verdict& verdict, const std::string& folder) {
  for (Check& check : verdict.checks) {
    for (std::string* text : {&check.expected, &check.actual, &check.detail})
      *text = neutral(*text, folder);
  }
  if (!verdict.failure) return;
  Failure& failure = *verdict.failure;
  for (std::string* text : {&failure.op, &failure.file, &failure.message, &failure.replay,
                            &failure.expected, &failure.actual}) {
    *text = neutral(*text, folder);
  }
}

Verdict refusal(const Exercise& exercise, const std::string& why) {
  const std::string file = exercise.name + ".cc";
  return failed_before_running(
      exercise.name,
      {.kind = FailureKind::kCompile, .file = file, .message = fmt::format("{} is {}", file, why)});
}

/// Writes the file and its helpers. Returns the file's path.
std::string write_copy(const SourceText& source, const Exercise& exercise,
                       const TemporaryFolder& folder) {
  for (const SourceText::Helper& helper : source.helpers)
    write_file(folder.path(helper.name), helper.text);
  std::string path = folder.path(exercise.name + ".cc");
  write_file(path, source.text);
  return path;
}

/// Returns the salt of the judge's inputs for this file (judge/salt.h): one that students see in
/// replay lines, and that says nothing about the salt of any other file or of a changed one.
std::uint64_t salt_of(const SourceText& source, const Exercise& exercise,
                      const FileGrading& grading) {
  if (grading.salt != 0) return grading.salt;
  // Without the secret, the digest can be predicted neither from the file nor from other digests.
  const std::string inner = git_blob_id(grading.secret + exercise.name + id_of(source));
  const std::string digest = git_blob_id(grading.secret + inner);
  const std::uint64_t number = std::stoull(digest.substr(0, 16), nullptr, 16);
  return number % static_cast<std::uint64_t>(kLargestSalt) + 1;
}

/// Runs the failing case once more. Sets the result's picture to its timeline, as lines of at most
/// 100 columns, and its waits; a deadlock is drawn up to where it ended. Sets neither where there
/// is no run to draw: the program passes, was not compiled, is the stub, or sends no messages.
/// Blocks until done; see grade().
/// @param graded how the file was graded
/// @param copy where the file was, to be removed from texts
void draw_failure(const Exercise& exercise, const GradeOptions& graded, const std::string& copy,
                  GradeResult& result) {
  if (result.verdict.status != Status::kFail) return;
  std::optional<PictureOptions> picture = picture_after(exercise, result.verdict);
  if (!picture) return;
  const TemporaryFolder folder;
  picture->style.folder = folder.path("");
  picture->style.columns = kColumns;
  picture->style.waits = true;

  GradeOptions drawing = graded;
  drawing.picture = to_text(*picture);
  drawing.sealed = false;  // the verdict is known
  try {
    grade(exercise, drawing);
  } catch (const Error&) {
    return;  // the verdict says what is wrong
  }
  const auto left = [&](const char* name) {
    return neutral(read_foreign_file(folder.path(name), kMostDrawnBytes).value_or(""), copy);
  };
  result.picture = left(kTimelineFile);
  result.waits = checked_waits(left(kWaitsFile));
}

GradeResult judge_copy(const SourceText& source, const Exercise& exercise,
                       const FileGrading& grading, const GradeResult* known) {
  const TemporaryFolder folder;
  const std::string prefix = folder.path("");
  GradeOptions options;
  options.file = write_copy(source, exercise, folder);
  options.command = fmt::format("./rankbox check {}{}", exercise.name, kFilePlaceholder);
  options.salt = salt_of(source, exercise, grading);
  options.command += fmt::format(" --salt {}", options.salt);
  if (grading.sealed) options.command += " --sealed";
  options.seconds = grading.seconds;
  options.memory_mb = grading.memory_mb;
  options.sealed = grading.sealed;

  GradeResult result;
  if (known != nullptr) {
    result = *known;
  } else {
    const double begin = now();
    Grade graded = grade(exercise, options);
    result.seconds = now() - begin;
    result.verdict = std::move(graded.verdict);
    make_neutral(result.verdict, prefix);
    // Without a case there is no run to draw.
    result.drawn = result.verdict.failure && result.verdict.failure->replay.empty();
    result.printed = neutral(graded.program_output.substr(0, kMostPrinted), prefix);
    result.compiler_output = neutral(graded.compiler_output.substr(0, kMostPrinted), prefix);
  }
  if (!is_complete(result, grading)) {
    draw_failure(exercise, options, prefix, result);
    result.drawn = true;
  }
  return result;
}

}  // namespace

std::string key_of(const SourceText& source, const Exercise& exercise, const FileGrading& grading) {
  std::string all = fingerprint_of_grader();
  all += fmt::format("{}\n{} {} {} {}\n", exercise.name, grading.seconds, grading.memory_mb,
                     grading.sealed, salt_of(source, exercise, grading));
  all += git_blob_id(text_or_nothing(absolute_path(solution_path(exercise))));
  return git_blob_id(all + id_of(source));
}

bool is_complete(const GradeResult& result, const FileGrading& grading) {
  return !grading.pictures || result.drawn || result.verdict.status != Status::kFail;
}

GradeResult grade_source(const SourceText& source, const Exercise& exercise,
                         const FileGrading& grading, const GradeResult* known) {
  GradeResult result;
  try {
    if (source.refused.empty()) return judge_copy(source, exercise, grading, known);
    result.verdict = refusal(exercise, source.refused);
    result.drawn = true;
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    if (known != nullptr) return *known;  // without its picture
    result.verdict = error_of_ours(exercise.name, visible_text(error.what()));
  }
  return result;
}

}  // namespace rankbox::cli
