// Where grades are written, and in which format.
#pragma once

#include <cstddef>
#include <string>

#include "cli/grade/class_report.h"

namespace rankbox::cli {

/// The names of the formats.
inline constexpr const char* kFormats[] = {"gradescope", "junit", "exercism", "classroom50",
                                           "csv",        "json",  "html"};

struct GradeOutput {
  std::string format;  // one of kFormats; empty: none
  std::string path;    // --out; empty: standard output
  std::string html;    // --html; empty: no page
};

/// Returns the name, shortened to what a file may be called.
std::string file_name_of(const std::string& name);

/// Throws InvalidArgument unless everything can be written, before hours are spent on grading; and
/// where a link among the submissions would be written through.
void check_output(const GradeOutput& output, const std::string& submissions, std::size_t students);

/// Writes the files, each whole or not at all. A format for one student goes to a file if there is
/// one student, else to DIR/STUDENT/results.json. Throws Error.
/// @return the paths, in words: "wrote grades.csv"; empty if the format went to standard output
std::string write_output(const GradeOutput& output, const ClassReport& report);

}  // namespace rankbox::cli
