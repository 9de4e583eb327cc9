#include "cli/grade/gradescope_export.h"

#include <algorithm>
#include <fstream>
#include <regex>

#include "cli/grade/due_time.h"
#include "verdict/visible_text.h"

namespace rankbox::cli {
namespace {

/// Returns the value without quotes and what an escape would need; groups of submitters are joined.
std::string plain(std::string value) {
  const bool quoted = value.size() >= 2 && (value.front() == '\'' || value.front() == '"') &&
                      value.back() == value.front();
  if (quoted) value = value.substr(1, value.size() - 2);
  return visible_text(value);
}

void join(std::string& all, const std::string& one) { all += (all.empty() ? "" : ", ") + one; }

void apply(Student& student, const std::string& field, const std::string& value) {
  if (field == "name")
    student.name = student.name == student.id ? value : student.name + ", " + value;
  if (field == "email") join(student.email, value);
  if (field == "sid") join(student.number, value);
  if (field == "created_at") {
    if (const auto time = parse_time(value)) {
      for (SubmittedFile& file : student.files) file.time = *time;
    }
  }
}

}  // namespace

void add_gradescope_metadata(std::vector<Student>& students, const std::string& folder) {
  static const std::regex heading("^([^\\s:]+):\\s*$");
  static const std::regex submitter("^  ?-? ? ?:(name|email|sid): (\\S.*)$");
  static const std::regex time("^  :(created_at): (\\S.*)$");
  std::ifstream file(folder + "/submission_metadata.yml");
  Student* student = nullptr;
  for (std::string line; std::getline(file, line);) {
    std::smatch match;
    if (std::regex_match(line, match, heading)) {
      const auto found = std::ranges::find(students, match[1].str(), &Student::id);
      student = found == students.end() ? nullptr : &*found;
    } else if (student != nullptr &&
               (std::regex_match(line, match, submitter) || std::regex_match(line, match, time))) {
      apply(*student, match[1], plain(match[2]));
    }
  }
}

}  // namespace rankbox::cli
