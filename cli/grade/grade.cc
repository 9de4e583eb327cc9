#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/grade/due_time.h"
#include "cli/grade/grade_class.h"
#include "cli/grade/output.h"
#include "cli/grade/summary.h"
#include "cli/support/child.h"
#include "cli/support/container.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"
#include "files/git_blob.h"
#include "files/output_file.h"
#include "judge/salt.h"
#include "judge/visible_text.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string folder;
  std::string layout = kLayouts[0];
  std::vector<std::string> exercises;
  std::string points;
  std::string due;
  double penalty = 0;
  GradeAllOptions grading;
  std::uint64_t salt = 0;  // 0: follows from the secret and the file
  bool unsealed = false;
  bool fresh = false;
  std::string state;
  GradeOutput output;
};

void check_seconds(const char* option, double seconds, double least) {
  if (seconds >= least && seconds <= 1e6) return;
  throw InvalidArgument(
      fmt::format("{} {:g} should be from {:g} to 1000000 seconds", option, seconds, least));
}

void check(const Options& options) {
  check_seconds("--seconds", options.grading.file.seconds, 0.1);
  check_seconds("--seconds-per-student", options.grading.seconds_per_student, 0);
  check_seconds("--seconds-in-all", options.grading.seconds_in_all, 0);
  if (!(options.penalty >= 0 && options.penalty <= 100))
    throw InvalidArgument(
        fmt::format("--late-penalty {:g} should be from 0 to 100", options.penalty));
  if (options.penalty > 0 && options.due.empty())
    throw InvalidArgument("--late-penalty needs --due, the time after which files are late");
}

Scheme scheme_of(const Options& options) {
  Scheme scheme = options.points.empty() ? Scheme{} : read_scheme(options.points);
  scheme.penalty_percent = options.penalty;
  if (options.due.empty()) return scheme;
  scheme.due = parse_time(options.due);
  if (scheme.due) return scheme;
  throw InvalidArgument(
      fmt::format("--due {}: expected a time like 2026-12-01T23:59:00+01:00", options.due));
}

/// Returns whether the student handed in a git clone below the folder.
bool is_clone(const Student& student, const std::string& name) {
  const fs::path folder = (fs::path(name) / "").lexically_normal().parent_path();
  return std::ranges::any_of(student.files, [&](const SubmittedFile& file) {
    std::error_code ignored;
    for (fs::path at = fs::path(file.path).parent_path(); !at.empty(); at = at.parent_path()) {
      at = at.lexically_normal();
      if (at == folder || at == at.parent_path()) break;
      if (fs::exists(at / ".git", ignored)) return true;
    }
    return false;
  });
}

/// A clone's files have the time of the clone. Its commits' times are no better: their author sets
/// them, and git would read settings that the student wrote.
void warn_of_clones(const std::vector<Student>& students, const std::string& folder) {
  const auto clones =
      std::ranges::count_if(students, [&](const Student& each) { return is_clone(each, folder); });
  if (clones == 0) return;
  fmt::print(stderr,
             "rankbox: --due takes the times of files, and {} of {} students handed in git clones, "
             "whose files have the time of the clone: check out what was pushed by then, and leave "
             "out --due\n",
             clones, students.size());
}

/// Returns where the results of this folder are kept.
std::string default_state(const std::string& folder) {
  const fs::path path = fs::weakly_canonical(folder);
  const fs::path all = fs::path(state_folder()) / "grades";
  std::error_code error;
  fs::create_directories(all, error);
  if (error) {
    throw Error(fmt::format("cannot keep results in {}: {}; choose a file with --state",
                            all.string(), error.message()));
  }
  return all / fmt::format("{}-{:.12}.jsonl", file_name_of(path.filename().string()),
                           git_blob_id(path.string()));
}

/// Throws Error with the fix: before hours are spent on errors.
void require_containers() {
  const std::string problem = container_problem();
  if (problem.empty()) return;
  throw Error(fmt::format("sealed grades need containers: {}; --unsealed goes without", problem));
}

void run(Options& options) {
  check(options);
  if (!options.unsealed) require_containers();
  std::vector<std::string> left_out;
  const std::vector<Student> students = find_submissions(options.folder, options.layout, &left_out);
  for (const std::string& each : left_out) fmt::print(stderr, "rankbox: {}\n", each);
  const Scheme scheme = scheme_of(options);
  if (scheme.due && options.layout != "gradescope") warn_of_clones(students, options.folder);
  const auto exercises = exercises_to_grade(options.exercises, scheme, students);
  check_output(options.output, options.folder, students.size());
  if (!options.state.empty()) check_writable("--state", options.state);

  const std::string state = options.state.empty() ? default_state(options.folder) : options.state;
  ResultStore store(state, options.fresh);
  GradeAllOptions& grading = options.grading;
  grading.file.salt = options.salt;
  grading.file.secret = store.secret();
  grading.file.sealed = !options.unsealed;
  grading.file.pictures = !options.output.html.empty() || options.output.format == "html";
  grading.with_helpers = options.layout != "flat" && options.layout != "canvas";

  ClassReport report;
  try {
    const InterruptGuard guard;
    report = grade_class(students, exercises, scheme, store, grading);
  } catch (const Interrupted&) {
    fmt::print(stderr, "\ninterrupted: results are kept in {}, and the same command goes on\n",
               display_path(state));
    throw;
  }
  report.title = visible_name(fs::weakly_canonical(options.folder).filename().string());
  const std::string written = write_output(options.output, report);
  const bool is_printed = !options.output.format.empty() && options.output.path.empty();
  if (!is_printed) {
    fmt::print("{}", fit(fmt::format("{}\n{}{}; results are kept in {}\n{}", summary_of(report),
                                     report.sealed ? "sealed" : "unsealed: a verdict can be forged",
                                     report.salt == 0 ? "" : fmt::format(", salt {}", report.salt),
                                     display_path(state), written)));
  }
  if (report.count(Outcome::kError) > 0) throw CLI::RuntimeError(1);
}

}  // namespace

void add_grade(CLI::App& app) {
  auto options = std::make_shared<Options>();
  options->grading.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  CLI::App* command = app.add_subcommand("grade", "grades a folder of submissions");
  command->footer(
      "Example:\n"
      "  ./rankbox grade class/                                one folder per student\n"
      "  ./rankbox grade class/ --format csv --out grades.csv --html grades.html\n"
      "  ./rankbox grade export/ --layout gradescope --points points.toml --due 2026-12-01\n"
      "A file is named after its exercise: broadcast_tree.cc. What is graded is kept: a run that\n"
      "was interrupted goes on where it was, and another format takes no time. Exits with 0 if\n"
      "every file has a grade, good or bad; 1 if there were errors of ours, or a time limit left\n"
      "files undone (\"not graded\", never \"fail\"); 2 for a mistake on this command line.\n"
      "docs/grading.md describes layouts, points, formats and what a grade is worth.");
  command->add_option("folder", options->folder, "the submissions")->required()->type_name("DIR");
  command
      ->add_option("--layout", options->layout,
                   "folders (one per student, the default), single, flat, canvas or gradescope")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kLayouts), std::end(kLayouts))))
      ->type_name("L");
  command
      ->add_option("--exercises", options->exercises,
                   "names or chapters (default: those handed in, or those of --points)")
      ->delimiter(',')
      ->type_name("NAME|CHAPTER,…");
  command
      ->add_option("--points", options->points,
                   "TOML with points and weights (default: an exercise's importance, 1 to 5)")
      ->type_name("F");
  command
      ->add_option("--due", options->due,
                   "later files are late: an ISO 8601 time, or a date. A file's\n"
                   "time is that of Gradescope's metadata, or else of its last\n"
                   "change: in a git clone that of the clone")
      ->type_name("TIME");
  command
      ->add_option("--late-penalty", options->penalty,
                   "percent of the points that each day that has begun costs (default 0)")
      ->type_name("PERCENT");
  command->add_option("--jobs", options->grading.jobs, "files at a time (default: the cores)")
      ->check(whole_number(1, 1024))
      ->type_name("N");
  command
      ->add_option("--seconds", options->grading.file.seconds,
                   "that one program may run (default 20); a sealed run has three times\n"
                   "that. A program that computes goes on until it has had its limit as\n"
                   "processor time, for at most four times the limit: an endless loop\n"
                   "takes up to 12 times S on a busy machine")
      ->type_name("S");
  command
      ->add_option("--seconds-per-student", options->grading.seconds_per_student,
                   "of grading; the rest is not graded (default: no limit)")
      ->type_name("S");
  command
      ->add_option("--seconds-in-all", options->grading.seconds_in_all,
                   "after which no grading begins (default: no limit)")
      ->type_name("S");
  command
      ->add_option("--format", options->output.format,
                   "gradescope, junit, exercism, classroom50, csv, json or html")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kFormats), std::end(kFormats))))
      ->type_name("X");
  command
      ->add_option("--out", options->output.path,
                   "write the format to this file, or folder if it has a file per student")
      ->type_name("F");
  command
      ->add_option("--html", options->output.html,
                   "write a page to look around in, with pictures of what fails")
      ->type_name("F");
  command
      ->add_option("--state", options->state,
                   "keep results in this file (default: in .rankbox/grades)")
      ->type_name("F");
  command->add_flag("--fresh", options->fresh, "forget kept results, and draw new inputs");
  command
      ->add_option(
          "--salt", options->salt,
          "of the judge's inputs, for all files (default: one for each file, which follows\n"
          "from a secret that is kept with the results)")
      ->check(whole_number(1, kLargestSalt))
      ->type_name("N");
  command->add_flag("--unsealed", options->unsealed,
                    "go on without containers: a submission can forge its verdict");
  add_course(*command);
  command->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
