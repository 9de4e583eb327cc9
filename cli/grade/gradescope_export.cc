#include "cli/grade/gradescope_export.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "cli/grade/due_time.h"
#include "comm/errors.h"
#include "files/foreign_file.h"
#include "judge/visible_text.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // thousands of students

/// Returns the text of a field; empty if there is none.
std::string text_in(const YAML::Node& node, const char* field) {
  if (!node.IsMap()) return "";
  const YAML::Node value = node[field];
  return value.IsDefined() && value.IsScalar() ? visible_name(value.Scalar()) : "";
}

/// Adds to a list. Aliases can repeat a submitter as often as they like.
void join(std::string& all, const std::string& one) {
  constexpr std::size_t kMost = 2000;
  if (!one.empty() && all.size() + one.size() < kMost) all += (all.empty() ? "" : ", ") + one;
}

void apply(Student& student, const YAML::Node& submission) {
  if (!submission.IsMap()) return;
  if (const auto time = parse_time(text_in(submission, ":created_at"))) {
    for (SubmittedFile& file : student.files) file.time = *time;
  }
  std::string names;
  const YAML::Node submitters = submission[":submitters"];
  if (!submitters.IsDefined() || !submitters.IsSequence()) return;
  for (const YAML::Node& submitter : submitters) {
    join(names, text_in(submitter, ":name"));
    join(student.email, text_in(submitter, ":email"));
    join(student.number, text_in(submitter, ":sid"));
  }
  if (!names.empty()) student.name = names;
}

}  // namespace

void add_gradescope_metadata(std::vector<Student>& students, const std::string& folder) {
  const std::string path = folder + "/submission_metadata.yml";
  const std::optional<std::string> text = read_foreign_file(path, kMostBytes);
  if (!text) {
    std::error_code ignored;
    if (!fs::exists(fs::symlink_status(path, ignored))) return;
    throw InvalidArgument(fmt::format(
        "{} cannot be read, is a link, or is larger than {} MiB: times and names are in it", path,
        kMostBytes >> 20));
  }
  try {
    const YAML::Node all = YAML::Load(*text);
    if (!all.IsMap()) return;
    for (Student& student : students) {
      if (const YAML::Node submission = all[student.id]; submission.IsDefined())
        apply(student, submission);
    }
  } catch (const YAML::Exception& error) {
    throw InvalidArgument(fmt::format("{}:{}: {}", path, error.mark.line + 1, error.msg));
  }
}

}  // namespace rankbox::cli
