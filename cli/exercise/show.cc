#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/exercise/exercise_file.h"
#include "cli/exercise/grade.h"
#include "cli/picture/picture.h"
#include "cli/picture/run_picture.h"
#include "cli/support/child.h"
#include "cli/support/lists.h"
#include "cli/support/machine_memory.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"
#include "comm/option_checks.h"
#include "files/output_file.h"
#include "files/temporary_folder.h"
#include "judge/verdict_text.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

constexpr int kMostSegments = 1024;
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;
constexpr double kRanksPerSecond = 5000;  // that a large world may take longer

struct ShowArguments {
  ExerciseFile file;
  int ranks = 4;
  std::optional<std::int64_t> count;
  std::optional<int> root;
  std::optional<int> segments;
  std::string op;
  std::string cluster = cluster_presets().front().name;
  std::string buffering = "rendezvous";
  std::string order = "any";
  PictureFiles files;
};

[[noreturn]] void refuse(const Exercise& exercise, const char* option, const char* why) {
  throw InvalidArgument(fmt::format("{}: {} {}", option, exercise.name, why));
}

/// Throws InvalidArgument for options without a matching argument of the exercise.
void check_fits(const Exercise& exercise, const ShowArguments& options) {
  const Case example = first_case_of(exercise);
  if (example.threads) {
    refuse(exercise, "show",
           "has threads that share a value, no ranks to draw; ./rankbox race FILE draws its steps");
  }
  if (options.count && !example.count) refuse(exercise, "--count", "has no tensor");
  if (options.root && !example.root) refuse(exercise, "--root", "has no root");
  if (options.segments && !example.segments)
    refuse(exercise, "--segments", "has neither segments nor micro-batches");
  if (options.segments && example.chunks && *options.segments % options.ranks != 0) {
    throw InvalidArgument(fmt::format("--segments {}: {} takes a multiple of its {} ranks",
                                      *options.segments, exercise.name, options.ranks));
  }
  if (!options.op.empty() && !example.op) refuse(exercise, "--op", "does not reduce");
  if (options.root && *options.root >= options.ranks) {
    throw InvalidArgument(
        fmt::format("--root {}: ranks are 0 to {}", *options.root, options.ranks - 1));
  }
  if (!options.op.empty() && !find_reduce_op(options.op)) {
    throw InvalidArgument(
        fmt::format("--op {}: choose one of SUM, PRODUCT, MAX, MIN, AVG", options.op));
  }
  const Cluster cluster = cluster_named(options.cluster);
  const int nodes = cluster.nodes_for(options.ranks);
  check_cluster_fits(cluster, options.ranks, nodes);
  if (example.nodes && options.ranks % nodes != 0) {
    throw InvalidArgument(fmt::format(
        "--ranks {}: {} needs as many ranks on each node, and this is no multiple of the {} nodes "
        "that they take on {}",
        options.ranks, exercise.name, nodes, cluster.name));
  }
  parse_buffering(options.buffering);
  parse_order(options.order);
}

/// Returns the usual count, or fewer elements in a large world: its tensors have 1 GiB together.
std::int64_t default_count(const Subject& subject, std::int64_t ranks) {
  const std::int64_t holders = subject.holds_all ? ranks * ranks : ranks;
  return std::min(subject.count_to_show, std::max<std::int64_t>(1, kMostElements / holders));
}

/// Throws InvalidArgument if the tensors would not fit into memory.
void check_memory(const Subject& subject, std::int64_t ranks, std::int64_t count) {
  const std::int64_t of_rank = (subject.holds_all ? ranks : 1) * count;
  check_fits_memory(ranks, static_cast<double>(of_rank) * kElementBytes,
                    fmt::format("tensors of {} elements", of_rank),
                    count > 1 ? "use fewer ranks or a smaller --count" : "use fewer ranks");
}

PictureOptions picture_options(const Exercise& exercise, const ShowArguments& options,
                               const TemporaryFolder& folder) {
  PictureOptions picture;
  picture.style = style_here(folder.path(""));
  picture.style.trace = !options.files.trace.empty();
  picture.style.html = !options.files.html.empty();
  picture.style.svg = !options.files.svg.empty();
  picture.style.goal = !options.files.goal.empty();
  picture.ranks = options.ranks;
  picture.count = options.count.value_or(default_count(subject_of(exercise), options.ranks));
  picture.root = options.root.value_or(0);
  picture.segments = options.segments.value_or(0);
  if (!options.op.empty()) picture.op = options.op;
  picture.cluster = options.cluster;
  if (options.cluster.find('/') != std::string::npos || options.cluster.ends_with(".toml"))
    picture.cluster = std::filesystem::absolute(options.cluster).string();  // a file
  picture.buffering = options.buffering;
  picture.order = options.order;
  return picture;
}

void show(const ShowArguments& options) {
  const Exercise& exercise = exercise_named(options.file.name);
  require_judge(exercise);
  check_fits(exercise, options);
  const TemporaryFolder folder;
  const PictureOptions picture = picture_options(exercise, options, folder);
  if (first_case_of(exercise).count)
    check_memory(subject_of(exercise), options.ranks, picture.count);
  check_files(options.files);
  GradeOptions grading;
  grading.file = path_of(options.file, exercise);
  grading.command = fmt::format("./rankbox show {}", exercise.name);
  grading.seconds = options.file.seconds + options.ranks / kRanksPerSecond;
  grading.memory_mb = memory_mb_for(executor_named("auto", options.ranks), options.ranks);
  grading.picture = to_text(picture);

  Grade run;
  {
    const InterruptGuard guard;
    run = grade(exercise, grading);
  }
  const bool is_drawn = show_pictures(folder.path(""), options.files);
  if (run.verdict.passed()) return require_files(folder.path(""), options.files);
  fmt::print("{}{}", is_drawn ? "\n" : "", fit(to_text(run.verdict, use_colour())));
  if (!run.compiler_output.empty()) fmt::print("the compiler says:\n{}\n", run.compiler_output);
  throw CLI::RuntimeError(1);
}

}  // namespace

void add_show(CLI::App& app) {
  auto options = std::make_shared<ShowArguments>();
  options->file.seconds = 60;
  CLI::App* command = app.add_subcommand("show", "draws one run of an exercise over virtual time");
  command->footer(
      "Example:\n"
      "  ./rankbox show allreduce_ring --solution --ranks 8 --cluster h100-nvlink\n"
      "  ./rankbox show pipeline_1f1b --solution --segments 8         a schedule: who does what "
      "when\n"
      "  ./rankbox show broadcast_tree --html tree.html       to look around in, step by step\n"
      "  ./rankbox show broadcast_tree --trace tree.json      for ui.perfetto.dev\n"
      "Two lanes a rank: what it sends, and what it receives and computes; a blank means waiting.\n"
      "A run that fails is drawn up to there. Exits with 0 if it ran well, 1 if not, 2 for a\n"
      "mistake on this command line.");
  add_exercise_file(*command, options->file, "show");
  command->get_option("--timeout")
      ->description(fmt::format("seconds it may run (default {:g}), and 1 more for each {} ranks",
                                options->file.seconds, kRanksPerSecond));
  command->add_option("--ranks", options->ranks, "world size (default 4)")
      ->check(whole_number(1, kLargestWorld))
      ->type_name("P");
  command
      ->add_option(
          "--count", options->count,
          "elements of the tensor (default 4096; fewer if it is the width of layers, and in "
          "large worlds)")
      ->check(whole_number(0, kMostElements))
      ->type_name("N");
  command->add_option("--root", options->root, "src or dst (default 0)")
      ->check(whole_number(0, kLargestWorld - 1))
      ->type_name("R");
  command
      ->add_option("--segments", options->segments,
                   "segments, or micro-batches (default: as many as ranks, at most 64 unless it "
                   "takes a multiple of them)")
      ->check(whole_number(1, kMostSegments))
      ->type_name("M");
  command->add_option("--op", options->op, "SUM, PRODUCT, MAX, MIN or AVG (default SUM)")
      ->type_name("OP");
  command->add_option("--cluster", options->cluster, "machine whose time the virtual clocks show")
      ->type_name("C");
  command
      ->add_option("--buffering", options->buffering,
                   "buffering of sends: rendezvous (the default), eager:BYTES or unbounded")
      ->type_name("B");
  command->add_option("--order", options->order, kOrderHelp)->type_name("O");
  command
      ->add_option("--html", options->files.html,
                   "write the run as one page for any browser to this file")
      ->type_name("F");
  command->add_option("--svg", options->files.svg, kSvgHelp)->type_name("F");
  command->add_option("--trace", options->files.trace, "write trace-event JSON to this file")
      ->type_name("F");
  command
      ->add_option("--goal", options->files.goal, "write the schedule for LogGOPSim to this file")
      ->type_name("F");
  add_course(*command);
  command->callback([options] { show(*options); });
}

}  // namespace rankbox::cli
