#include "cli/grade/failure_picture.h"

#include <optional>

#include "cli/picture/picture.h"
#include "comm/errors.h"
#include "files/foreign_file.h"
#include "files/temporary_folder.h"

namespace rankbox::cli {
namespace {

constexpr int kColumns = 100;
constexpr std::size_t kMostTimelineBytes = std::size_t{64} * 1024;

}  // namespace

std::string picture_of_failure(const Exercise& exercise, const Verdict& verdict,
                               const GradeOptions& graded) {
  if (verdict.status != Status::kFail) return "";
  std::optional<PictureOptions> picture = picture_after(exercise, verdict);
  if (!picture) return "";
  const TemporaryFolder folder;
  picture->style.folder = folder.path("");
  picture->style.columns = kColumns;

  GradeOptions drawing = graded;
  drawing.picture = to_text(*picture);
  drawing.sealed = false;  // the verdict is known
  try {
    grade(exercise, drawing);
  } catch (const Error&) {
    return "";  // the verdict says what is wrong
  }
  return read_foreign_file(folder.path(kTimelineFile), kMostTimelineBytes).value_or("");
}

}  // namespace rankbox::cli
