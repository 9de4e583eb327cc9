#include "cli/grade/output.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "cli/grade/formats/formats.h"
#include "cli/grade/page.h"
#include "comm/errors.h"
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
  if (format == "html") return page_of(report);
  return text_of_one(format, report.students.front(), report);
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InvalidArgument(fmt::format("--out {}: {}", folder, error.message()));
}

}  // namespace

void check_output(const GradeOutput& output, std::size_t students) {
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
    write_file(output.html, page_of(report));
    written += fmt::format("wrote {}\n", output.html);
  }
  if (output.format.empty()) return written;
  if (is_folder(output, report.students.size())) {
    const char* name = output.format == "classroom50" ? "result.json" : "results.json";
    for (const StudentGrade& student : report.students) {
      const fs::path folder = fs::path(output.path) / student.id;
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
