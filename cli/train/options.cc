#include "cli/train/options.h"

#include <algorithm>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/support/options.h"
#include "cli/train/backend.h"
#include "cli/train/schedule_options.h"
#include "comm/errors.h"
#include "training/run/session.h"
#include "training/run/strategies/all_reduce.h"

namespace rankbox::train {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// The arguments as typed; empty or 0 if not given.
struct Arguments {
  std::string model = "mlp";
  std::string strategy;
  ScheduleArguments schedule;
  std::string bucket_mb;
  std::string precision = name_of(Precision::kFp32);
  int ranks = 0;
  std::int64_t epochs = 0;
  std::int64_t batch = 0;
  std::int64_t seed = 1;
  bool timeline = false;
  bool no_timeline = false;
  Placement placement;
  std::vector<std::string> mine;
};

std::string footer() {
  std::string text = "Models:\n";
  for (const ModelKind& kind : model_kinds()) {
    text += fmt::format("  {:<12} {}; {} epochs, batches of {}, {} with learning rate {}\n",
                        kind.name, kind.summary, kind.epochs, kind.batch, name_of(kind.optimizer),
                        kind.rate(kind.optimizer));
  }
  text += "Strategies:\n";
  for (const Strategy* strategy : strategies())
    text += fmt::format("  {:<12} {}\n", strategy->name, strategy->summary);
  text += fmt::format(R"(Examples:
  ./rankbox train --ranks 4 --strategy ddp
  ./rankbox train --ranks 4 --all-reduce ring
  ./rankbox train --ranks 4 --mine-unchecked ddp_average_gradients=sum.cc
  ./rankbox train --model convnet --save run.ckpt --save-every 100
  ./rankbox train --model convnet --save run.ckpt --resume
  ./rankbox train --ranks 2 --accumulate 4 --warmup-steps 20 --decay cosine --log steps.jsonl
  ./rankbox train --model transformer --weight-decay 0.01 --save run.ckpt --keep-best f1
  ./rankbox train --model moe --strategy expert --ranks 4
  ./rankbox train --backend mpi --ranks 4
  ./rankbox train --backend nccl --ranks 8 --precision bf16
--backend sim|mpi|nccl: ranks are threads of one process; MPI processes, which mpirun starts here;
or GPUs, which several ranks may share. On several machines a launcher starts the program itself:
mpirun --host one:4,two:4 .rankbox/bin/rankbox-train-mpi --strategy ddp (docs/gpu.md has others).
All ranks share each batch, so that results depend on their number only by rounding. Batch norm
(convnet) is the exception: it normalizes what a rank has of a batch at once. --accumulate K equals
a batch K times larger, up to rounding and batch norm; ranks average gradients once a step (dp,
zero2 and zero3 after every batch). An epoch's last step is left out if it is not full. F1 is that
of class 1 if there are two classes, else macro: the mean over classes. Rank 0 writes checkpoints,
whole or not at all, after each epoch and every --save-every steps. Ctrl-C finishes the current
step, saves if --save was given, and stops; a second Ctrl-C stops at once. (An mpirun of your own
kills its ranks a second after Ctrl-C: send it SIGUSR1 instead.)
Exits with 0 when done, 2 for a mistake on this command line, 128 + the number of the signal that
ended it, else 1.
This is the program of the backend {}.)",
                      backend_name());
  return text;
}

void add_training(CLI::App& app, Arguments& typed, Plan& plan) {
  app.add_option("--model", typed.model, "what to train, see below")->capture_default_str();
  app.add_option("--ranks", typed.ranks, "number of ranks (default: 1, or mpirun's)")
      ->check(cli::whole_number(1, 65536));
  app.add_option("--strategy", typed.strategy,
                 "how ranks train, see below (default: single; with several ranks, ddp)");
  app.add_option("--epochs", typed.epochs, "passes over the data (default: the model's)")
      ->check(cli::whole_number(1, 1'000'000));
  app.add_option("--batch", typed.batch,
                 "samples in one forward and backward, over all ranks; a multiple of the ranks if "
                 "each takes a share (default: the model's)")
      ->check(cli::whole_number(1, kMost));
  app.add_option("--accumulate", plan.accumulate,
                 "batches whose gradients are added up for one step; a step is a step of the "
                 "optimizer, and takes batch times accumulate samples")
      ->check(cli::whole_number(1, 1'000'000))
      ->capture_default_str();
  add_optimizer(app, typed.schedule, plan);
  app.add_option("--all-reduce", plan.all_reduce,
                 "all-reduce of the gradients: native, or one of chapter 4: naive, tree, "
                 "butterfly, ring, rabenseifner, hierarchical (ddp)")
      ->capture_default_str();
  app.add_option("--bucket-mb", typed.bucket_mb,
                 "MiB of gradients in one all-reduce, by ddp_buckets (default: a parameter each; "
                 "with --overlap 25) (ddp)")
      ->type_name("NUMBER");
  app.add_flag("--overlap", plan.overlap,
               "start each bucket's all-reduce during backward, by ddp_overlap (ddp)");
  app.add_option("--precision", typed.precision,
                 "fp32; or weights and gradients of 16 bits, and masters of 32: mixed (float16, "
                 "with loss scaling) or bf16")
      ->capture_default_str();
  app.add_option("--seed", typed.seed, "seed of the initial values and of the order of samples")
      ->check(cli::whole_number(0, kMost))
      ->capture_default_str();
  app.add_option("--samples", plan.samples,
                 "training samples: fewer for a quick run (default: all)")
      ->check(cli::whole_number(1, 1'000'000));
  app.add_option(
         "--data", plan.data,
         "folder with MNIST's four files under their original names, packed (.gz) or not; for "
         "transformer: train.csv and test.csv in UTF-8 with columns text and label (default: "
         "embedded data)")
      ->type_name("FOLDER");
}

void add_checkpoints(CLI::App& app, Arguments& typed, Plan& plan) {
  app.add_option("--save", plan.save, "file for checkpoints")->type_name("FILE");
  app.add_option("--save-every", plan.save_every,
                 "steps between checkpoints, in addition to those after epochs")
      ->check(cli::whole_number(1, kMost));
  app.add_flag("--resume", plan.resume, "continue from the file of --save");
  add_evaluation(app, typed.schedule, plan);
}

void add_placement(CLI::App& app, Placement& placement) {
  app.add_option("--nodes", placement.nodes, "nodes to spread the ranks over (sim: simulated)")
      ->type_name("INT");
  app.add_option("--cluster", placement.cluster,
                 "machine whose time the timeline shows, as in ./rankbox compare --list-clusters "
                 "(sim)");
}

/// Only ./rankbox train can check and compile a file. This program lists these options, and rejects
/// them.
void add_mine(CLI::App& app, Arguments& typed, Request& request) {
  app.add_option(
         "--mine", typed.mine,
         "this file's function in place of the reference's, if it passes check; repeatable. "
         "none: no function of yours (default: those of your exercises that pass)")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1)
      ->type_name("NAME=FILE");
  app.add_option("--mine-unchecked", typed.mine, "the same without the check")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->expected(1)
      ->type_name("NAME=FILE");
  app.add_flag("--exercises", request.shows_exercises)->group("");
}

void add_output(CLI::App& app, Arguments& typed, Request& request) {
  app.add_flag("--json", request.json, "print one JSON object at the end, and nothing else");
  app.add_flag("--quiet", request.quiet, "print only the result");
  app.add_option("--log", request.log, "file for one JSON object per step, a line each")
      ->type_name("FILE");
  app.add_flag("--timeline", typed.timeline,
               "draw one step over virtual time at the end (sim; default with several ranks)");
  app.add_flag("--no-timeline", typed.no_timeline, "draw no step");
}

bool wants_timeline(const Arguments& typed, const Request& request) {
  if (typed.timeline && !has_timeline()) {
    throw InvalidArgument(
        fmt::format("--timeline: only the sandbox has virtual time to draw, and this is {}; leave "
                    "out --backend",
                    backend_name()));
  }
  if (typed.timeline && typed.no_timeline)
    throw InvalidArgument("--timeline and --no-timeline: give one of them");
  if (typed.timeline && request.json)
    throw InvalidArgument("--timeline and --json: give one of them, the object holds no picture");
  const bool by_default = has_timeline() && request.plan.ranks > 1 && !request.quiet;
  return typed.timeline || (by_default && !typed.no_timeline && !request.json);
}

void complete_request(Request& request, const Arguments& typed) {
  if (!typed.mine.empty()) {
    throw InvalidArgument(fmt::format(
        "--mine {}: this program compiles no files; start it by ./rankbox train, or give "
        "--mine-library NAME=FILE.so",
        typed.mine.front()));
  }
  Plan& plan = request.plan;
  const ModelKind& kind = model_kind(typed.model);
  plan.model = typed.model;
  // With --exercises, it may run outside the launcher that will start the ranks.
  plan.ranks = request.shows_exercises ? std::max(typed.ranks, 1) : world_size_for(typed.ranks);
  plan.strategy = !typed.strategy.empty() ? typed.strategy : plan.ranks == 1 ? "single" : "ddp";
  strategy_named(plan.strategy);  // throws if it is unknown
  plan.epochs = typed.epochs == 0 ? kind.epochs : typed.epochs;
  plan.batch = typed.batch == 0 ? kind.batch : typed.batch;
  complete(
      typed.schedule, kind.optimizer,
      [](const Plan& made) { return model_kind(made.model).rate(made.optimizer); }, plan);
  plan.precision = parse_choice("precision", "precision", typed.precision, kPrecisions);
  all_reduce_named(plan.all_reduce);
  if (plan.overlap) plan.bucket_mib = 25;  // PyTorch's default
  if (!typed.bucket_mb.empty()) {
    plan.bucket_mib = parse_number("--bucket-mb", typed.bucket_mb, "above 0, like 25",
                                   [](double x) { return x > 0 && x <= 1e6; });
  }
  plan.seed = static_cast<std::uint64_t>(typed.seed);
  if (plan.save.empty() && plan.resume)
    throw InvalidArgument("--resume: no file to continue from; give --save FILE, too");
  if (plan.save.empty() && plan.save_every > 0)
    throw InvalidArgument("--save-every: no file to write; give --save FILE, too");
  place(typed.placement, plan);
  request.timeline = wants_timeline(typed, request);
}

}  // namespace

Request parse_options(const std::vector<std::string>& arguments) {
  Request request;
  Arguments typed;
  CLI::App app("Trains a model on one rank or many.", "rankbox train");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_training(app, typed, request.plan);
  add_checkpoints(app, typed, request.plan);
  add_placement(app, typed.placement);
  add_mine(app, typed, request);
  add_output(app, typed, request);
  cli::group_options(app, {"model", "ranks", "strategy", "epochs", "batch", "precision", "samples",
                           "data", "save", "resume", "mine", "json", "timeline"});
  app.footer(footer());
  if (!cli::parse_arguments(app, arguments, "./rankbox train --help")) {
    request.shows_help = true;
    request.help = app.help();
    return request;
  }
  complete_request(request, typed);
  return request;
}

}  // namespace rankbox::train
