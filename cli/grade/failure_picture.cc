#include "cli/grade/failure_picture.h"

#include <fstream>
#include <iterator>
#include <optional>

#include "cli/picture/picture.h"
#include "clusters/clusters.h"
#include "comm/errors.h"
#include "files/temporary_folder.h"
#include "verdict/case.h"

namespace rankbox::cli {
namespace {

constexpr int kColumns = 100;
constexpr std::size_t kMostTimelineBytes = std::size_t{64} * 1024;

/// Returns the case that the replay line names.
std::optional<Case> failing_case(const Exercise& exercise, const std::string& replay) {
  const std::string option = " --replay ";
  const std::size_t at = replay.find(option);
  if (at == std::string::npos) return std::nullopt;
  const std::string rest = replay.substr(at + option.size());
  try {
    return parse_case(rest.substr(0, rest.find(' ')), first_case_of(exercise));
  } catch (const InvalidArgument&) {
    return std::nullopt;
  }
}

}  // namespace

std::string picture_of_failure(const Exercise& exercise, const Verdict& verdict,
                               const GradeOptions& graded) {
  if (verdict.status != Status::kFail || !verdict.failure || !sends_messages(exercise)) return "";
  const std::optional<Case> failing = failing_case(exercise, verdict.failure->replay);
  if (!failing) return "";

  const TemporaryFolder folder;
  PictureOptions picture;
  picture.style.folder = folder.path("");
  picture.style.columns = kColumns;
  picture.ranks = failing->world_size;
  picture.count = failing->count.value_or(0);
  picture.root = failing->root.value_or(0);
  picture.segments = failing->segments.value_or(0);
  if (failing->op) picture.op = name_of(*failing->op);
  picture.cluster = cluster_presets().front().name;

  GradeOptions drawing = graded;
  drawing.picture = to_text(picture);
  drawing.sealed = false;  // the verdict is known
  try {
    grade(exercise, drawing);
  } catch (const Error&) {
    return "";  // the verdict says what is wrong
  }
  std::ifstream file(folder.path(kTimelineFile));
  std::string text(std::istreambuf_iterator<char>(file), {});
  return text.size() <= kMostTimelineBytes ? text : "";
}

}  // namespace rankbox::cli
