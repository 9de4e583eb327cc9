// `rankbox plan`: prices every layout of a model on a cluster, and prints the best few.
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/compare/plot.h"
#include "cli/plan/plan_report.h"
#include "cli/plan/search.h"
#include "cli/support/lists.h"
#include "cli/support/options.h"
#include "cli/support/subcommands.h"
#include "comm/errors.h"
#include "sim/clusters/clusters.h"

namespace rankbox::cli {
namespace {

struct Options {
  std::string model = "7B";
  std::string batch = "1M";
  std::string cluster = "h100-ib";
  std::string gpu;
  std::string sharding, schedule, recompute, plot;
  std::int64_t gpus = 256;
  std::int64_t sequence = 0;
  std::int64_t tensor = 0, pipeline = 0, context = 0, expert = 0, micro_batch = 0, chunks = 0;
  std::int64_t top = 5;
  bool is_json = false;
};

/// Returns the tokens that "512K", "1M" or "4194304" is: K and M are powers of 1024, as of bytes.
std::int64_t tokens_in(const std::string& text) {
  try {
    return parse_bytes(text);
  } catch (const InvalidArgument&) {
    throw InvalidArgument(fmt::format(
        "--batch {}: expected tokens of a step, like 512K, 4M or 1048576; at most 64G", text));
  }
}

template <typename Choice>
std::optional<Choice> choice_of(const std::string& option, const std::string& text,
                                const std::vector<std::pair<std::string, Choice>>& choices) {
  if (text.empty()) return std::nullopt;
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (name == text) return choice;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw InvalidArgument(fmt::format("{} {}: choose one of {}", option, text, names));
}

plan::Wanted wanted_of(const Options& options) {
  const auto degree = [](std::int64_t number) {
    return number == 0 ? std::nullopt : std::optional(number);
  };
  using enum plan::Sharding;
  using enum plan::Schedule;
  plan::Wanted wanted;
  wanted.tensor = degree(options.tensor);
  wanted.pipeline = degree(options.pipeline);
  wanted.context = degree(options.context);
  wanted.expert = degree(options.expert);
  wanted.micro_batch = degree(options.micro_batch);
  wanted.chunks = degree(options.chunks);
  wanted.sharding = choice_of<plan::Sharding>(
      "--strategy", options.sharding,
      {{"ddp", kNone}, {"zero1", kZero1}, {"zero2", kZero2}, {"fsdp", kZero3}, {"hsdp", kHybrid}});
  wanted.schedule = choice_of<plan::Schedule>("--schedule", options.schedule,
                                              {{"gpipe", kGpipe},
                                               {"1f1b", k1f1b},
                                               {"interleaved", kInterleaved},
                                               {"zero-bubble", kZeroBubble}});
  wanted.recomputes =
      choice_of<bool>("--recompute", options.recompute, {{"yes", true}, {"no", false}});
  return wanted;
}

plan::Task task_of(const Options& options) {
  plan::Task task;
  task.model = plan::model_named(options.model);
  task.sequence = options.sequence > 0 ? options.sequence : task.model.sequence;
  if (task.model.is_gpt) task.model.sequence = task.sequence;  // learned positions
  task.gpus = options.gpus;
  task.cluster = cluster_named(options.cluster);
  task.gpu = plan::gpu_named(options.gpu, task.cluster.name);
  const std::int64_t tokens = tokens_in(options.batch);
  task.batch = tokens / task.sequence;
  if (tokens % task.sequence != 0 || task.batch == 0) {
    throw InvalidArgument(fmt::format(
        "--batch {}: {} tokens are not a whole number of sequences of {}; give a multiple, or "
        "--sequence",
        options.batch, tokens, task.sequence));
  }
  const std::int64_t node = task.cluster.ranks_per_node;
  const std::int64_t most = node * task.cluster.max_nodes;
  if (most > 0 && task.gpus > most) {
    throw InvalidArgument(
        fmt::format("--gpus {}: {} has at most {}; choose another --cluster, or fewer GPUs",
                    task.gpus, task.cluster.name, most));
  }
  return task;
}

void run(const Options& options) {
  if (!options.plot.empty()) check_plottable(options.plot);
  const plan::Task task = task_of(options);
  const std::vector<plan::Estimate> all = plan::search(task, wanted_of(options));
  const plan::Report report = plan::report_of(task, all, static_cast<std::size_t>(options.top));
  if (options.is_json) {
    fmt::print("{}\n", plan::report_json(report).dump());
  } else {
    fmt::print("{}", plan::report_text(report));
  }
  if (!options.plot.empty()) {
    plot(plan::report_json(report), options.plot, "cli/plan/plan_plot.py");
    if (!options.is_json) fmt::print("wrote {}\n", options.plot);
  }
  if (report.fit == 0) throw CLI::RuntimeError(1);
}

}  // namespace

void add_plan(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "plan", "which parallelisms for a model on a cluster: bytes, memory and time of a step");
  const auto options = std::make_shared<Options>();
  command
      ->add_option("--model", options->model,
                   "a name, see below, or LAYERSxWIDTHxHEADS of a model like GPT-3")
      ->capture_default_str();
  command->add_option("--gpus", options->gpus, "GPUs")
      ->check(whole_number(1, 1 << 20))
      ->capture_default_str();
  command->add_option("--cluster", options->cluster, "as in ./rankbox compare --list-clusters")
      ->capture_default_str();
  command
      ->add_option("--batch", options->batch,
                   "tokens in a step, over all GPUs; K and M are powers of 1024")
      ->capture_default_str();
  command
      ->add_option("--sequence", options->sequence, "tokens in a sequence (default: the model's)")
      ->check(whole_number(1, 1 << 24));
  command->add_option("--strategy", options->sharding, "only ddp, zero1, zero2, fsdp or hsdp");
  command->add_option("--tensor", options->tensor, "only this degree of tensor parallelism")
      ->check(whole_number(1, 1 << 20));
  command->add_option("--pipeline", options->pipeline, "only this many stages")
      ->check(whole_number(1, 1 << 20));
  command->add_option("--schedule", options->schedule,
                      "only gpipe, 1f1b, interleaved or zero-bubble");
  command->add_option("--chunks", options->chunks, "only this many chunks a rank (interleaved)")
      ->check(whole_number(2, 1 << 10));
  command->add_option("--context", options->context, "only this degree of context parallelism")
      ->check(whole_number(1, 1 << 20));
  command->add_option("--expert", options->expert, "only this degree of expert parallelism")
      ->check(whole_number(1, 1 << 20));
  command
      ->add_option("--micro-batch", options->micro_batch, "only this many sequences a micro-batch")
      ->check(whole_number(1, 1 << 20));
  command->add_option("--recompute", options->recompute,
                      "only layouts that recompute activations (yes), or that keep them (no)");
  command->add_option(
      "--gpu", options->gpu,
      "the GPU of a cluster of your own: a100 (80 GB), a100-40, h100, h200, b200, gb200 or 4090 "
      "(default: by the cluster's name)");
  command->add_option("--top", options->top, "how many kinds of layouts to rank")
      ->check(whole_number(1, 1000))
      ->capture_default_str();
  command->add_flag("--json", options->is_json, "print one JSON object, and nothing else");
  command->add_option("--plot", options->plot,
                      "draw where the steps' time and memory go: .svg, .png or .pdf");
  group_options(*command,
                {"model", "gpus", "cluster", "batch", "sequence", "strategy", "json", "plot"});
  std::string models;
  for (const plan::Transformer& model : plan::known_models()) {
    models += fmt::format("  {:<5} {}\n", model.name, model.about);
  }
  command->footer("Models:\n" + models +
                  "Examples:\n"
                  "  ./rankbox plan --model 7B --batch 1M --cluster h100-efa --gpus 256\n"
                  "  ./rankbox plan --model 405B --batch 16M --gpus 8192 --pipeline 16\n"
                  "  ./rankbox plan --model 8x7B --gpus 64 --strategy fsdp --expert 8 --json\n"
                  "What it assumes, and how far from published runs it is: docs/planner.md.\n"
                  "Exits with 0 if a layout fits, 1 if none does.");
  command->callback([options] { run(*options); });
}

}  // namespace rankbox::cli
