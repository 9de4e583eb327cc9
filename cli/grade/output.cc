#include "cli/grade/output.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/grade/formats/formats.h"
#include "comm/errors.h"
#include "files/git_blob.h"
#include "files/output_file.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

/// Returns whether a file in this format is about one student.
bool is_for_one(const std::string& format) {
  return format == "gradescope" || format == "exercism" || format == "classroom50";
}

bool is_folder(const GradeOutput& output, std::size_t students) {
  return is_for_one(output.format) &&
         (students != 1 || output.path.ends_with('/') || fs::is_directory(output.path));
}

std::string text_of_one(const std::string& format, const StudentGrade& student,
                        const ClassReport& report) {
  if (format == "gradescope") return to_gradescope(student, report);
  if (format == "exercism") return to_exercism(student);
  return to_classroom50(student);
}

std::string text_of_all(const std::string& format, const ClassReport& report) {
  if (format == "junit") return to_junit(report);
  if (format == "csv") return to_csv(report);
  if (format == "json") return to_json(report);
  if (format == "html") return to_html(report);
  return text_of_one(format, report.students.front(), report);
}

/// Refuses what lies among the submissions, if a student's link leads there, or may.
void check_follows_no_link(const char* option, const std::string& path,
                           const std::string& submissions, bool is_folder) {
  if (path.empty()) return;
  std::error_code ignored;  // a path that cannot be followed cannot be written to either
  const fs::path inside = fs::absolute(path).lexically_normal().lexically_relative(
      fs::absolute(submissions).lexically_normal());
  if (inside.empty() || *inside.begin() == "..") return;
  const fs::path without_links = fs::weakly_canonical(submissions, ignored) / inside;
  if (!is_folder && fs::weakly_canonical(path, ignored) == without_links.lexically_normal()) return;
  throw InvalidArgument(fmt::format(
      "{} {} lies among the submissions, where a link may lead anywhere: choose another", option,
      path));
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InvalidArgument(fmt::format("--out {}: {}", folder, error.message()));
}

}  // namespace

std::string file_name_of(const std::string& name) {
  constexpr std::size_t kMostBytes = 200;  // of 255: something may follow
  if (name.size() <= kMostBytes) return name;
  std::size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}-{:.12}", name.substr(0, end), git_blob_id(name));
}

void check_output(const GradeOutput& output, const std::string& submissions, std::size_t students) {
  check_follows_no_link("--html", output.html, submissions, /*is_folder=*/false);
  check_follows_no_link("--out", output.path, submissions, is_folder(output, students));
  if (!output.html.empty()) check_writable("--html", output.html);
  if (output.format.empty() && !output.path.empty())
    throw InvalidArgument("--out needs a --format");
  if (output.format.empty()) return;
  if (!is_folder(output, students)) {
    if (!output.path.empty()) check_writable("--out", output.path);
  } else if (output.path.empty()) {
    throw InvalidArgument(fmt::format(
        "--format {} has a file for each of {} students: add --out DIR", output.format, students));
  } else {
    make_folder(output.path);
  }
}

std::string write_output(const GradeOutput& output, const ClassReport& report) {
  std::string written;
  if (!output.html.empty()) {
    write_file(output.html, to_html(report));
    written += fmt::format("wrote {}\n", output.html);
  }
  if (output.format.empty()) return written;
  if (is_folder(output, report.students.size())) {
    const char* name = output.format == "classroom50" ? "result.json" : "results.json";
    for (const StudentGrade& student : report.students) {
      const fs::path folder = fs::path(output.path) / file_name_of(student.id);
      make_folder(folder.string());
      write_file((folder / name).string(), text_of_one(output.format, student, report));
    }
    return written +
           fmt::format("wrote {}/*/{}\n", fs::path(output.path).lexically_normal().string(), name);
  }
  const std::string text = text_of_all(output.format, report);
  if (output.path.empty()) {
    fmt::print("{}", text);
    return "";
  }
  write_file(output.path, text);
  return written + fmt::format("wrote {}\n", output.path);
}

}  // namespace rankbox::cli
