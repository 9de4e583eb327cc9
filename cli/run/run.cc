#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/picture/run_picture.h"
#include "cli/plugin/plugin.h"
#include "cli/run/outcome.h"
#include "cli/run/program.h"
#include "cli/support/child.h"
#include "cli/support/lists.h"
#include "cli/support/options.h"
#include "cli/support/paths.h"
#include "cli/support/programs.h"
#include "cli/support/subcommands.h"
#include "cli/support/terminal.h"
#include "comm/errors.h"
#include "files/output_file.h"
#include "files/temporary_folder.h"
#include "judge/verdict_text.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

struct Options {
  std::string file;
  std::string backend = "sim";
  ProgramOptions program;
  PictureFiles files;
  bool json = false;
};

/// Returns the command that runs the program again in the sandbox.
std::string again(const Options& options) {
  const ProgramOptions& program = options.program;
  const ProgramOptions usual;
  std::string command = fmt::format("./rankbox run {} --ranks {}", options.file, program.ranks);
  if (program.nodes != 0) command += fmt::format(" --nodes {}", program.nodes);
  if (program.cluster != cluster_presets().front().name) command += " --cluster " + program.cluster;
  if (program.buffering != usual.buffering) command += " --buffering " + program.buffering;
  if (program.without_data) command += " --virtual";
  if (program.order != usual.order) command += " --order " + program.order;
  if (program.executor != usual.executor) command += " --executor " + program.executor;
  return command;
}

void check_seconds(const char* option, double seconds) {
  if (seconds > 0 && seconds <= 86400) return;
  throw InvalidArgument(
      fmt::format("{} {:g} should be more than 0 and at most 86400 seconds", option, seconds));
}

/// Throws InvalidArgument for options that the backend does not support.
void check_fits_backend(const CLI::App& command, const Options& options) {
  const std::string& backend = options.backend;
  check_backend(backend);
  if (backend == "sim") {
    if (command.count("--deadline") == 0) return;
    throw InvalidArgument(
        "--deadline: the sandbox proves deadlocks and needs no deadline; use it with --backend mpi "
        "or nccl");
  }
  for (const char* option : {"--html", "--svg", "--trace", "--goal", "--cluster", "--executor",
                             "--buffering", "--order", "--virtual", "--notes"}) {
    const bool is_known = backend == "mpi" && std::string(option) == "--buffering";
    if (command.count(option) == 0 || is_known) continue;
    throw InvalidArgument(fmt::format("{}: the sandbox alone has it; leave out --backend {}",
                                      option, options.backend));
  }
}

bool is_goal(const std::string& file) { return file.ends_with(".goal"); }

/// Throws InvalidArgument for options that a schedule has no use for.
void check_goal(const CLI::App& command) {
  for (const char* option : {"--ranks", "--backend", "--buffering", "--order", "--executor",
                             "--virtual", "--notes", "--timeout", "--goal"}) {
    if (command.count(option) == 0) continue;
    throw InvalidArgument(
        fmt::format("{}: a .goal file says what its ranks do, and nothing runs", option));
  }
}

void print(const Outcome& outcome, const Options& options) {
  if (options.json) {
    fmt::print("{}\n",
               report_json(outcome.verdict, options.program, outcome.figures, outcome.output));
    return;
  }
  if (outcome.verdict.passed() || options.program.notes) {
    for (const std::string& note : notes_in(outcome.figures)) fmt::print("\nnote: {}\n", fit(note));
  }
  if (outcome.verdict.passed()) return;
  // Printed below the timeline and the output.
  const bool is_alone = outcome.figures.empty() && outcome.output.empty();
  fmt::print("{}{}", is_alone ? "" : "\n", fit(to_text(outcome.verdict, use_colour())));
  if (!outcome.compiler.empty()) fmt::print("the compiler says:\n{}\n", outcome.compiler);
}

/// Returns whether the program calls a function of ours that this program may lack: `rankbox` has
/// the functions of chapters 1 to 5.
bool calls_what_is_missing(const Verdict& verdict) {
  if (!verdict.failure || verdict.failure->kind != FailureKind::kCompile) return false;
  const std::string& message = verdict.failure->message;
  return message.starts_with("rankbox::") && message.ends_with(kDefinedNowhere);
}

void end_with(Outcome outcome, const Options& options) {
  if (outcome.verdict.failure) outcome.verdict.failure->replay = options.program.again;
  print(outcome, options);
  if (!outcome.verdict.passed()) throw CLI::RuntimeError(1);
}

void run(const CLI::App& command, Options options) {
  check_fits_backend(command, options);
  if (is_goal(options.file)) check_goal(command);
  check_seconds("--timeout", options.program.seconds);
  check_seconds("--deadline", options.program.deadline_seconds);
  require_readable(options.file);
  check_files(options.files);
  // Before any temporary file exists: Ctrl-C during the build ends this process.
  if (options.backend != "sim") backend_program("run", options.backend);
  std::optional<TemporaryFolder> folder(std::in_place);
  const std::string source = std::filesystem::absolute(options.file).string();
  ProgramOptions& program = options.program;
  program.name = std::filesystem::path(options.file).filename().string();
  program.again = again(options);
  program.picture = style_here(folder->path(""));
  program.picture.html = !options.files.html.empty();
  program.picture.svg = !options.files.svg.empty();
  program.picture.trace = !options.files.trace.empty();
  program.picture.goal = !options.files.goal.empty();
  program.picture.timeline = !options.json;
  if (!is_goal(options.file)) run_options_of(program);  // throws for invalid values

  if (options.backend != "sim") {
    if (options.json) {
      return end_with(run_on_backend_quietly(source, options.backend, program), options);
    }
    const int status = run_on_backend(source, options.backend, program);
    if (status != 0) throw CLI::RuntimeError(status);
    return;
  }
  const Outcome outcome = is_goal(options.file)
                              ? run_goal(source, program)
                              : run_in_sandbox(source, program, /*shows_output=*/!options.json);
  if (calls_what_is_missing(outcome.verdict)) use_rankbox_more([&] { folder.reset(); });
  if (!options.json && !outcome.output.empty()) fmt::print("\n");
  show_pictures(folder->path(""), options.files, options.json);
  end_with(outcome, options);
  require_files(folder->path(""), options.files);
}

}  // namespace

void add_run(CLI::App& app) {
  auto options = std::make_shared<Options>();
  ProgramOptions& program = options->program;
  program.cluster = cluster_presets().front().name;
  CLI::App* command = app.add_subcommand("run", "runs a program of your own on many ranks");
  command->footer(
      "FILE has a function void rank_main(Comm& dist) in namespace rankbox, and includes\n"
      "\"comm/comm.h\"; every rank runs it. It may call functions of the exercises,\n"
      "such as broadcast_ring: those of the solutions. A FILE.goal is a schedule for LogGOPSim.\n"
      "Examples:\n"
      "  ./rankbox run hello.cc                                4 ranks, drawn over virtual time\n"
      "  ./rankbox run hello.cc --ranks 16 --cluster h100-efa  the time it would take there\n"
      "  ./rankbox run hello.cc --html run.html                step by step, in a browser\n"
      "  ./rankbox run hello.cc --buffering unbounded          does it need buffered sends?\n"
      "  ./rankbox run hello.cc --order stream                 would it hang on NCCL?\n"
      "  ./rankbox run hello.cc --ranks 4096 --json            ranks are fibers\n"
      "  ./rankbox run huge.cc --virtual --ranks 1024          tensors of any size\n"
      "  ./rankbox run hello.cc --ranks 4 --backend mpi        the same file, as MPI processes\n"
      "Exits with 0 if it ran well, 1 if not, 2 for a mistake on this command line. A failing MPI\n"
      "or NCCL program keeps its own exit code.");
  command->add_option("file", options->file, "a C++ source file")->required()->type_name("FILE");
  command->add_option("--ranks", program.ranks, "world size (default 4)")
      ->check(whole_number(1, kLargestWorld))
      ->type_name("P");
  command
      ->add_option("--nodes", program.nodes,
                   "nodes that the ranks share (default: as in the cluster)")
      ->check(whole_number(1, kLargestWorld))
      ->type_name("N");
  command
      ->add_option("--backend", options->backend,
                   "sim (the sandbox, the default), mpi or nccl: real machines")
      ->type_name("B");
  command->add_option("--cluster", program.cluster, "machine whose time the virtual clocks show")
      ->type_name("C");
  command
      ->add_option("--buffering", program.buffering,
                   "buffering of sends: rendezvous (the default), eager:BYTES or unbounded")
      ->type_name("B");
  command->add_option("--order", program.order, kOrderHelp)->type_name("O");
  command->add_option("--executor", program.executor, kExecutorHelp)->type_name("E");
  command->add_flag("--virtual", program.without_data,
                    "tensors have a size and no data: virtual time and cost without the memory; "
                    "touching a value is an error");
  command->add_flag(
      "--notes", program.notes,
      "also say, after a failure, too, where ranks met in one collective from different lines");
  command->add_option("--timeout", program.seconds, "seconds that it may run (default 60)")
      ->type_name("S");
  command
      ->add_option("--deadline", program.deadline_seconds,
                   "with mpi and nccl: seconds that a rank may wait for others (default 30)")
      ->type_name("S");
  command->add_option("--html", options->files.html, "write the run as one page for any browser")
      ->type_name("F");
  command->add_option("--svg", options->files.svg, kSvgHelp)->type_name("F");
  command->add_option("--trace", options->files.trace, "write trace-event JSON to this file")
      ->type_name("F");
  command
      ->add_option("--goal", options->files.goal, "write the schedule for LogGOPSim to this file")
      ->type_name("F");
  command->add_flag("--json", options->json, "print one JSON object instead");
  command->callback([options, command] { run(*command, *options); });
}

}  // namespace rankbox::cli
