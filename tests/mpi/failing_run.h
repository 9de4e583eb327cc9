// Programs under mpirun that fail: their end, their report, and the processes that are left.
#pragma once

#include <string>
#include <vector>

namespace rankbox::testing {

/// Returns the test's folder for files.
std::string folder();

/// A copy of the failing program, so that its processes have a name that only this test uses.
const std::string& program();

/// Returns the live processes of program().
std::vector<int> survivors();

/// Returns whether all processes end within a minute, and kills those that do not. A rank that no
/// other rank ends would run for ten minutes, its deadline.
bool all_are_gone();

/// Returns the command that starts program() with these arguments.
std::vector<std::string> mpirun(int processes, const std::vector<std::string>& arguments);

struct Ending {
  int exit_code = 0;  // 128 + signal if a signal ended it
  std::string output;
};

/// Runs a command to its end, for at most 300 s.
Ending run(const std::vector<std::string>& command);

/// The contents of a scenario's report.
struct Report {
  std::string name;  // the error's class
  int rank = -1;
  std::string op;
  int peer = -1;
  std::string text;        // the first cause, in one line
  int count = 0;           // number of reports
  std::vector<int> lines;  // of the calls that the report must name
};

Report report_in(const std::string& output);

}  // namespace rankbox::testing
