#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/exercise/check.h"
#include "cli/exercise/exercise_file.h"
#include "cli/exercise/list.h"
#include "cli/exercise/live_page.h"
#include "cli/exercise/progress.h"
#include "cli/support/child.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/programs.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

namespace fs = std::filesystem;

// The exercise that was saved when `rankbox` handed over to rankbox-more.
constexpr const char* kSaved = "RANKBOX_SAVED";

// Polling the times of a few dozen files takes about 0.1 ms, and works on every file system and
// with every editor.
constexpr auto kPause = std::chrono::milliseconds(100);
constexpr int kLargestPort = 65535;

/// The learner's files, and the last known save time of each.
class Files {
 public:
  explicit Files(std::vector<const Exercise*> watched) : watched_(std::move(watched)) {
    for (const Exercise* exercise : watched_) times_.push_back(time_of(*exercise));
  }

  /// Returns an exercise that was saved since it was last returned; null if there is none.
  const Exercise* next_saved() {
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      if (!is_newer(i)) continue;
      times_[i] = time_of(*watched_[i]);
      latest_ = i;
      return watched_[i];
    }
    return nullptr;
  }

  /// Returns whether the exercise that was returned last has been saved again. Others wait: a
  /// "Save all" has each of them graded.
  bool is_saved_again() const { return latest_ && is_newer(*latest_); }

 private:
  using Time = std::optional<fs::file_time_type>;

  /// Returns none while an editor has removed the file and not yet written it again.
  static Time time_of(const Exercise& exercise) {
    std::error_code error;
    const auto time = fs::last_write_time(absolute_path(stub_path(exercise)), error);
    return error ? Time() : Time(time);
  }

  bool is_newer(std::size_t i) const {
    const Time now = time_of(*watched_[i]);
    return now && now != times_[i];
  }

  std::vector<const Exercise*> watched_;
  std::vector<Time> times_;
  std::optional<std::size_t> latest_;
};

void print_address(const WatchPage& page) { fmt::print("open {}\n", page.address); }

/// REQUIRES: an InterruptGuard lives, which a save cancels.
/// @param page null: none
void grade_saved(const Exercise& exercise, const WatchPage* page) {
  if (use_colour()) fmt::print("\033[2J\033[H");  // clears the screen
  fmt::print("checking {} …\n", stub_path(exercise));
  std::fflush(stdout);
  try {
    if (page != nullptr) page->show_busy(exercise);
    const Grade graded = check_own_file(exercise, page == nullptr ? "" : page->run_folder);
    if (page != nullptr) page->show(exercise, graded);
  } catch (const Interrupted& interrupted) {
    if (interrupted.signal() != 0) throw;
    return;  // saved again in the meantime: the new version counts
  } catch (const std::exception& error) {
    fmt::print("{}\n", error.what());  // not the learner's error; the next save tries again
    if (page != nullptr) page->show_problem(exercise, error.what());
  }
  fmt::print("\n{}\n", progress_bar());
  if (page != nullptr) print_address(*page);
  std::fflush(stdout);
}

/// Returns what the page shows before the first save.
const Exercise& first_on_page(const std::vector<const Exercise*>& watched) {
  const Exercise* latest = watched.size() > 1 ? latest_exercise() : nullptr;
  return latest != nullptr ? *latest : *watched.front();
}

void watch(const std::string& name, std::optional<int> page_port, OpenPage open_page) {
  std::vector<const Exercise*> watched;
  const Chapter* const chapter = name.empty() ? nullptr : chapter_named(name);
  if (!name.empty() && chapter == nullptr) {
    watched = {&exercise_named(name)};
  } else {
    for (const Exercise& exercise : exercises()) {
      if (chapter == nullptr || exercise.chapter == chapter->number) watched.push_back(&exercise);
    }
  }
  if (watched.empty())
    throw InvalidArgument("there are no exercises to watch: registry.toml has none");
  Files files(watched);
  const InterruptGuard guard([&files] { return files.is_saved_again(); });
  fmt::print("{}\n{}\n", progress_bar(),
             fit(fmt::format("watching {}; save one to have it graded, Ctrl-C ends",
                             name.empty()         ? "exercises/"
                             : chapter == nullptr ? stub_path(*watched.front())
                                                  : "exercises/" + chapter->folder)));
  std::optional<WatchPage> page;
  if (page_port) {
    page = open_page(*page_port, first_on_page(watched));
    print_address(*page);
  }
  std::fflush(stdout);
  const char* const saved_before = std::getenv(kSaved);
  const Exercise* saved = saved_before == nullptr ? nullptr : find_exercise(saved_before);
  unsetenv(kSaved);
  while (true) {
    if (saved == nullptr) saved = files.next_saved();
    if (saved != nullptr) {
      setenv(kSaved, saved->name.c_str(), 1);
      require_judge(*saved);
      unsetenv(kSaved);
      grade_saved(*saved, page ? &*page : nullptr);
      saved = nullptr;
      continue;
    }
    std::this_thread::sleep_for(kPause);
    InterruptGuard::check();
  }
}

}  // namespace

void add_watch(CLI::App& app, OpenPage open_page) {
  struct Options {
    std::string name;
    bool page = false;
    std::optional<int> port;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("watch", "grades every exercise as soon as it is saved");
  command->footer(
      "Example:\n"
      "  ./rankbox watch                   all exercises\n"
      "  ./rankbox watch 02_broadcast      those of a chapter\n"
      "  ./rankbox watch broadcast_ring    one of them\n"
      "  ./rankbox watch --page            in a browser, too: verdict, picture and cost\n"
      "The page is for this machine and for those who know its address, which is new each time.\n"
      "Saving again while a file is being graded starts over. Ctrl-C ends.");
  command->add_option("name", options->name, "an exercise (./rankbox list), its file, or a chapter")
      ->type_name("NAME");
  command->add_flag("--page", options->page, "serve a page that follows every save");
  command->add_option("--port", options->port, "of the page (default: a free one)")
      ->check(whole_number(1, kLargestPort))
      ->type_name("N");
  add_course(*command);
  command->callback([options, open_page] {
    if (options->port && !options->page)
      throw InvalidArgument(fmt::format("--port {}: only --page has a port", *options->port));
    std::optional<int> port;
    if (options->page) {
      use_rankbox_more();
      port = options->port.value_or(0);
    }
    watch(options->name, port, open_page);
  });
}

}  // namespace rankbox::cli
