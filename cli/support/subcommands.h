// The subcommands. Each add_X registers X with its options, its help and what it does.
//
// Subcommands report errors as exceptions: a user's mistake is InvalidArgument.
#pragma once

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace rankbox {

struct Exercise;

}

namespace rankbox::cli {

struct WatchPage;
using OpenPage = WatchPage (*)(int port, const Exercise& first);  // cli/exercise/live_page.h

// What the first hour needs: the program `rankbox`.
void add_check(CLI::App& app);
void add_hint(CLI::App& app);
void add_list(CLI::App& app);
void add_next(CLI::App& app);
void add_reset(CLI::App& app);
void add_run(CLI::App& app);
void add_show(CLI::App& app);
void add_test(CLI::App& app);  // replaces this process by bazel/run_all_tests.sh
/// @param open_page for --page; null: that is an option of rankbox-more
void add_watch(CLI::App& app, OpenPage open_page = nullptr);

// The rest: `rankbox-more`.
void add_compare(CLI::App& app);
void add_demo(CLI::App& app);
void add_dev(CLI::App& app);
void add_fit(CLI::App& app);
void add_gpu(CLI::App& app);
void add_grade(CLI::App& app);
void add_plan(CLI::App& app);
void add_race(CLI::App& app);
void add_train(CLI::App& app);

// Hidden: child processes of the programs above. All but the worker, which prints rows, report on
// kReportFd in the format of cli/plugin/verdict_report.h.

/// `judge NAME LIBRARY [--salt N] [--replay CASE] [--command TEXT] [--picture OPTIONS]`: opens the
/// library and judges its rankbox_exercise(). With --picture it runs once and is drawn.
void add_judge(CLI::App& app);
/// `referee NAME LIBRARIES...`: judges ranks that are processes.
void add_referee(CLI::App& app);
/// `run-library LIBRARY --options JSON`: runs the library's rank_main on every rank
/// (cli/run/inside.cc).
void add_run_library(CLI::App& app);
/// `explore-race …`: explores the schedules of a learner's file (cli/race/explorer.cc).
void add_race_explorer(CLI::App& app);
/// `compare-worker …`: measures.
void add_compare_worker(CLI::App& app);

}  // namespace rankbox::cli
