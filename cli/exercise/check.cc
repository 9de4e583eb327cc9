#include "cli/exercise/check.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/exercise/exercise_file.h"
#include "cli/exercise/grade.h"
#include "cli/exercise/guide.h"
#include "cli/exercise/prediction.h"
#include "cli/exercise/progress.h"
#include "cli/exercise/stub.h"
#include "cli/support/child.h"
#include "cli/support/exec.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/programs.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"
#include "judge/salt.h"
#include "judge/verdict_json.h"
#include "judge/verdict_text.h"
#include "judge/visible_text.h"

namespace rankbox::cli {

namespace {

constexpr std::size_t kLongestReplay = 256;

struct CheckArguments {
  ExerciseFile file;
  std::string replay;
  std::string prediction;
  std::uint64_t salt = 0;
  int memory_mb = 1024;
  std::string page_folder;  // see GradeOptions
  bool json = false;
  bool sealed = false;
  std::string order = "any";
};

// Prints the output of the learner's code or of the compiler, indented and truncated.
void print_indented(const char* heading, const std::string& text) {
  constexpr int kMostLines = 40;
  if (text.find_first_not_of(" \n") == std::string::npos) return;
  fmt::print("{}\n", heading);
  std::istringstream lines(text);
  int printed = 0;
  for (std::string line; std::getline(lines, line); ++printed) {
    if (printed == kMostLines) {
      fmt::print("  | …\n");
      return;
    }
    fmt::print("  | {}\n", visible_text(line));
  }
}

void print(const Grade& graded, const Exercise& exercise, const CheckArguments& options) {
  if (options.json) {
    fmt::print("{}\n", to_json(graded.verdict, 2));
    return;
  }
  const std::string text = to_text(graded.verdict, use_colour());
  fmt::print("{}", fit(text));
  // A failure has at most twelve lines: the header would be the thirteenth of a long one.
  const bool has_room = std::count(text.begin(), text.end(), '\n') < 12;
  if (!graded.verdict.passed() && has_room) fmt::print("  header: {}\n", header_path(exercise));
  if (!graded.verdict.passed()) print_indented("the compiler says:", graded.compiler_output);
  print_indented("printed by your code:", graded.program_output);
}

/// Explains the names of checks and the signs, to a user whose first verdict this is.
void print_legend(const Verdict& verdict) {
  std::string text =
      "  the checks: values; messages (this algorithm's, all received); cost (as the\n"
      "  header promises); safety (right without buffers, too)\n";
  if (std::ranges::count(verdict.checks, CheckStatus::kSkipped, &Check::status) > 0)
    text += "  · was not judged, since another one failed (said once)\n";
  fmt::print("{}", fit(text));
}

// Printed only if the learner's file passes.
void print_what_is_next(const Exercise& exercise) {
  const std::string answer = answer_to(exercise, prediction_of(exercise));
  const int columns = std::min(terminal_width(), 100) - 2;
  if (!answer.empty()) fmt::print("  {}\n", wrap(answer, columns, "    "));
  const std::string next = guide_of(exercise).next;
  if (!next.empty()) fmt::print("  {}\n", wrap("try next: " + next, columns, "    "));
  fmt::print("  our answer: {}\n", solution_path(exercise));
}

/// Returns the file as a command names it. A long name, or one that a shell would split, is left to
/// the user to fill in.
std::string argument_of(const std::string& file) {
  constexpr std::size_t kRest = 160;  // of a command, with a case or a schedule
  return is_plain_word(file) && file.size() + kRest < kLongestReplay ? file : "FILE";
}

// A replay line must grade the same file again.
std::string replay_command(const CheckArguments& options, const Exercise& exercise,
                           const std::string& file, bool own) {
  std::string command = fmt::format("./rankbox check {}", exercise.name);
  if (options.file.solution) return command + " --solution";
  if (own) return command;
  return fmt::format("{} --file {}", command, argument_of(file));
}

/// Sets the file in the command that shows a schedule: the judge does not know it.
void name_file(std::string& message, const std::string& file) {
  constexpr std::string_view kCommand = "./rankbox race FILE ";
  const std::size_t at = message.rfind(kCommand);
  if (at == std::string::npos) return;
  message.replace(at + kCommand.size() - 5, 4, argument_of(file));
}

// Asks once, before the first run of a program, and only at a terminal.
void ask_for_prediction(const Exercise& exercise) {
  const bool asked = !prediction_of(exercise).empty() || was_judged(exercise);
  if (asked || is_stub(exercise) || !is_predictable(exercise) || !is_interactive()) return;
  while (true) {
    fmt::print("{}", fit(question_about(exercise)));
    std::fflush(stdout);
    std::string line;
    if (!std::getline(std::cin, line)) return;
    try {
      remember_prediction(exercise, parse_prediction(exercise, line));
      return;
    } catch (const InvalidArgument& mistake) {
      fmt::print("{}\n", mistake.what());
    }
  }
}

/// Grades the file, and remembers the verdict if the file is the learner's own.
/// @param own set to whether it is
Grade grade_file(const Exercise& exercise, const CheckArguments& options, bool& own) {
  GradeOptions grading;
  grading.file = path_of(options.file, exercise);
  grading.replay = options.replay;
  // Known numbers prove nothing about a program that may know them.
  grading.salt = options.sealed && options.salt == 0 ? random_salt() : options.salt;
  grading.seconds = options.file.seconds;
  grading.memory_mb = options.memory_mb;
  grading.sealed = options.sealed;
  grading.order = options.order;
  grading.page_folder = options.page_folder;
  own = display_path(grading.file) == display_path(absolute_path(stub_path(exercise)));
  grading.command = replay_command(options, exercise, grading.file, own);
  if (grading.salt != 0) grading.command += fmt::format(" --salt {}", grading.salt);

  if (options.sealed) grading.command += " --sealed";
  if (parse_order(options.order) != MessageOrder::kAny) {
    if (options.sealed) throw InvalidArgument("--order and --sealed: check with one of them");
    grading.command += " --order " + options.order;
  }

  Grade graded = grade(exercise, grading);
  const std::string file = display_path(grading.file);
  if (graded.verdict.failure.has_value()) {
    name_file(graded.verdict.failure->message, file);
    name_file(graded.verdict.failure->hint.text, file);
  }
  for (Check& one : graded.verdict.checks) name_file(one.detail, file);
  own = own && options.replay.empty();  // one case proves nothing about the others
  if (own) remember(exercise, graded.verdict);
  return graded;
}

Grade check(const Exercise& exercise, const CheckArguments& options) {
  bool own = false;
  const bool is_first =
      !options.json &&
      std::ranges::none_of(exercises(), [](const Exercise& each) { return was_judged(each); });
  Grade graded = grade_file(exercise, options, own);
  if (own) remember_as_latest(exercise);
  print(graded, exercise, options);
  const bool shows_checks = std::ranges::any_of(
      graded.verdict.checks, [](const Check& one) { return one.status != CheckStatus::kSkipped; });
  if (own && is_first && shows_checks) print_legend(graded.verdict);
  if (own && !options.prediction.empty() && !graded.verdict.passed())
    fmt::print("  your prediction is kept, and answered when it passes\n");
  if (own && !options.json && graded.verdict.passed()) print_what_is_next(exercise);
  return graded;
}

/// Returns whether `name` is that chapter: "02_broadcast", "02", "2" or, if no exercise has that
/// name, "broadcast".
bool is_name_of(const Chapter& chapter, const std::string& name) {
  if (name == chapter.folder || name == std::to_string(chapter.number)) return true;
  const std::size_t number = chapter.folder.find('_');
  if (name == chapter.folder.substr(0, number)) return true;
  return name == chapter.folder.substr(number + 1) && find_exercise(name) == nullptr;
}

/// Returns "✗ broadcast_tree: deadlock, exercises/02_broadcast/broadcast_tree.cc:14".
std::string in_one_line_of(const Verdict& verdict) {
  const std::string text = to_text(verdict, use_colour());
  std::string line = text.substr(0, text.find('\n'));
  if (verdict.status != Status::kFail || verdict.failure->file.empty()) return line;
  line += ", " + visible_name(verdict.failure->file);
  return verdict.failure->line > 0 ? fmt::format("{}:{}", line, verdict.failure->line) : line;
}

/// Grades all exercises of the chapter. Returns whether all pass.
bool check_chapter(const Chapter& chapter, const CheckArguments& options) {
  if (!options.file.file.empty() || !options.replay.empty() || !options.prediction.empty()) {
    throw InvalidArgument(
        fmt::format("--file, --replay and --predict are for one exercise, and {} is a chapter",
                    chapter.folder));
  }
  int all = 0;
  int passed = 0;
  std::string json;
  for (const Exercise& exercise : exercises()) {
    if (exercise.chapter != chapter.number) continue;
    bool own = false;
    const Verdict verdict = grade_file(exercise, options, own).verdict;
    ++all;
    if (verdict.passed()) ++passed;
    json += (json.empty() ? "" : ",\n") + to_json(verdict, 2);
    if (options.json) continue;
    fmt::print("{}\n", fit(in_one_line_of(verdict)));
    std::fflush(stdout);
  }
  if (options.json) {
    fmt::print("[\n{}\n]\n", json);
  } else {
    fmt::print("{}\n",
               wrap(fmt::format(
                   "{} of {} pass{}", passed, all,
                   passed == all ? "" : "; ./rankbox check NAME explains one that does not")));
  }
  return passed == all;
}

void run(const CheckArguments& options) {
  if (options.sealed) use_rankbox_more();
  if (const Chapter* chapter = chapter_named(options.file.name)) {
    for (const Exercise& exercise : exercises())
      if (exercise.chapter == chapter->number) require_judge(exercise);
    const InterruptGuard guard;
    if (!check_chapter(*chapter, options)) throw CLI::RuntimeError(1);
    return;
  }
  const Exercise& exercise = exercise_named(options.file.name);
  require_judge(exercise);
  if (!options.prediction.empty()) {
    if (!is_predictable(exercise)) {
      throw InvalidArgument(
          fmt::format("--predict: {} sends no messages, there is nothing to count", exercise.name));
    }
    remember_prediction(exercise, parse_prediction(exercise, options.prediction));
  }
  const bool own = !options.file.solution && options.file.file.empty();
  if (own && !options.json) ask_for_prediction(exercise);
  const InterruptGuard guard;
  if (!check(exercise, options).verdict.passed()) throw CLI::RuntimeError(1);
}

}  // namespace

const Chapter* chapter_named(const std::string& text) {
  std::filesystem::path path(text);
  if (!path.has_filename()) path = path.parent_path();  // 02_broadcast/
  const std::string name = path.filename().string();
  std::vector<std::string> folders;
  for (const Chapter& chapter : chapters()) {
    if (is_name_of(chapter, name)) return &chapter;
    folders.push_back(chapter.folder);
  }
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) == 0) return nullptr;
  throw InvalidArgument(
      fmt::format("there is no chapter '{}'; choose one of {}", text, fmt::join(folders, ", ")));
}

void add_check(CLI::App& app) {
  auto options = std::make_shared<CheckArguments>();
  CLI::App* check_command = app.add_subcommand("check", "grades one exercise, or all of a chapter");
  check_command->footer(
      "Example:\n"
      "  ./rankbox check broadcast_ring                 your exercises/…/broadcast_ring.cc\n"
      "  ./rankbox check broadcast_ring --solution      the answer\n"
      "  ./rankbox check broadcast_ring --predict \"7 7\"  7 messages in a row, 7 n bytes: am I "
      "right?\n"
      "  ./rankbox check 2                              all exercises of a chapter, a line each\n"
      "Exits with 0 if it passes (of a chapter: all), 1 if not, 2 for a mistake on this command\n"
      "line.\n"
      "Before an exercise's first run, check asks at a terminal what you expect; Enter skips.\n"
      "Your file is compiled and run in a container (bubblewrap) where Linux allows it: it sees "
      "no\n"
      "other file of yours, and no network. RANKBOX_NO_CONTAINER=1 does without.\n"
      "With --json, status is pass, fail, not_implemented or error (ours, not yours), and each of\n"
      "the checks is pass, fail or skipped. If it did not pass there is a failure: rank and\n"
      "peer are -1, op and file empty and line 0 where there is none, or none is known. Of a\n"
      "chapter it prints an array of such objects.");
  add_exercise_file(*check_command, options->file, "grade");
  check_command->add_flag("--json", options->json, "print one JSON object; of a chapter an array");
  check_command->add_option("--replay", options->replay, "only this case, as a failure names it")
      ->type_name("CASE");
  check_command
      ->add_option("--salt", options->salt,
                   "other inputs and cases, drawn from this number; --sealed alone draws one at "
                   "random")
      ->check(whole_number(0, kLargestSalt))
      ->type_name("N");
  check_command
      ->add_option(
          "--predict", options->prediction,
          "what you expect on 8 ranks: steps, steps and bytes (a multiple of n), or who wins")
      ->type_name("TEXT");
  check_command->add_option("--memory", options->memory_mb, "MB it may use (default 1024)")
      ->check(whole_number(64, 1 << 20))
      ->type_name("MB");
  check_command->add_flag("--sealed", options->sealed,
                          "what passes is judged again, with a process for each rank, so that no "
                          "program can pass by deceiving its judge");
  check_command->add_option("--order", options->order, kOrderHelp)->type_name("O");
  add_course(*check_command);
  check_command->callback([options] { run(*options); });
}

Grade check_own_file(const Exercise& exercise, const std::string& page_folder) {
  CheckArguments options;
  options.page_folder = page_folder;
  options.file.name = exercise.name;
  return check(exercise, options);
}

}  // namespace rankbox::cli
