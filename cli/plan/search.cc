#include "cli/plan/search.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "comm/errors.h"

namespace rankbox::plan {

namespace {

/// Divisors of `number` up to `most`; or what is wanted, if that is one.
std::vector<std::int64_t> degrees(std::int64_t number, std::int64_t most,
                                  const std::optional<std::int64_t>& wanted) {
  std::vector<std::int64_t> all;
  for (std::int64_t d = 1; d <= std::min(number, most); ++d) {
    if (number % d == 0 && (!wanted || *wanted == d)) all.push_back(d);
  }
  return all;
}

template <typename Choice>
std::vector<Choice> choices(const std::optional<Choice>& wanted, std::vector<Choice> all) {
  if (wanted) return {*wanted};
  return all;
}

class Search {
 public:
  Search(const Task& task, const Wanted& wanted) : task_(task), wanted_(wanted) {}

  std::vector<Estimate> run() {
    for (const std::int64_t tensor : degrees(task_.model.kv_heads, task_.gpus, wanted_.tensor)) {
      if (!divides_gpus(tensor) || (tensor > node_ && !wanted_.tensor)) continue;
      const std::int64_t rest = task_.gpus / tensor;
      for (const std::int64_t pipeline : degrees(rest, task_.model.layers, wanted_.pipeline)) {
        // Stages of one layer more and less: the longest decides.
        const std::int64_t longest = (task_.model.layers + pipeline - 1) / pipeline;
        const bool is_uneven = 10 * longest * pipeline > 11 * task_.model.layers;
        if (is_uneven && !wanted_.pipeline) continue;
        // A sequence of fewer than 2,048 tokens a rank leaves attention nothing to hide.
        const std::int64_t most =
            wanted_.context ? task_.sequence : std::max<std::int64_t>(1, task_.sequence / 2048);
        for (const std::int64_t context : degrees(rest / pipeline, most, wanted_.context)) {
          if (cuts_sequence(context, tensor)) try_degrees(tensor, pipeline, context);
        }
      }
    }
    return std::move(found_);
  }

 private:
  /// Returns whether groups of so many neighbours fill nodes, or nodes fill them.
  bool is_aligned(std::int64_t ranks) const { return node_ % ranks == 0 || ranks % node_ == 0; }

  bool divides_gpus(std::int64_t tensor) const {
    return task_.gpus % tensor == 0 && is_aligned(tensor);
  }

  /// Zigzag cuts a sequence into two chunks a rank, and sequence parallelism those tokens again.
  bool cuts_sequence(std::int64_t context, std::int64_t tensor) const {
    return (context == 1 || task_.sequence % (2 * context) == 0) &&
           (task_.sequence / context) % tensor == 0 && is_aligned(tensor * context);
  }

  void try_degrees(std::int64_t tensor, std::int64_t pipeline, std::int64_t context) {
    Layout layout;
    layout.tensor = tensor;
    layout.pipeline = pipeline;
    layout.context = context;
    layout.data = task_.gpus / (tensor * pipeline * context);
    if (task_.batch % layout.data != 0) return;
    const std::int64_t sequences = task_.batch / layout.data;
    const std::int64_t experts = std::max<std::int64_t>(1, task_.model.experts);
    for (const std::int64_t expert : degrees(experts, experts, wanted_.expert)) {
      if (layout.data % expert != 0) continue;
      layout.expert = expert;
      const std::int64_t most = wanted_.micro_batch.value_or(16);
      for (const std::int64_t micro : degrees(sequences, most, wanted_.micro_batch)) {
        layout.micro_batch = micro;
        layout.micro_batches = sequences / micro;
        for (const bool recomputes : choices<bool>(wanted_.recomputes, {false, true})) {
          layout.recomputes = recomputes;
          try_shardings(layout);
        }
      }
    }
  }

  void try_shardings(Layout layout) {
    using enum Sharding;
    for (const Sharding sharding :
         choices<Sharding>(wanted_.sharding, {kNone, kZero1, kZero2, kZero3, kHybrid})) {
      layout.sharding = sharding;
      layout.shard = layout.replicas();
      const bool is_later = sharding != kNone && sharding != kZero1;
      if (is_later && layout.pipeline > 1 && !wanted_.sharding) continue;  // a gather for each pass
      if (sharding != kNone && layout.replicas() == 1) continue;
      if (sharding == kHybrid) {  // shards in a node, replicas between
        layout.shard = node_ / layout.tensor;
        if (layout.shard < 2 || layout.replicas() % layout.shard != 0 ||
            layout.shard == layout.replicas() || layout.shard % layout.context != 0 ||
            layout.expert > 1) {
          continue;
        }
      }
      try_schedules(layout);
    }
  }

  void try_schedules(Layout layout) {
    using enum Schedule;
    if (layout.pipeline == 1) {
      if (wanted_.schedule || wanted_.chunks) return;
      return found(layout);
    }
    for (const Schedule schedule :
         choices<Schedule>(wanted_.schedule, {kGpipe, k1f1b, kInterleaved, kZeroBubble})) {
      layout.schedule = schedule;
      layout.chunks = 1;
      if (schedule != kInterleaved) {
        if (!wanted_.chunks) found(layout);
        continue;
      }
      if (layout.micro_batches % layout.pipeline != 0) continue;
      const std::int64_t layers = (task_.model.layers + layout.pipeline - 1) / layout.pipeline;
      for (const std::int64_t chunks :
           degrees(layers, wanted_.chunks.value_or(8), wanted_.chunks)) {
        if (chunks == 1) continue;
        layout.chunks = chunks;
        found(layout);
      }
    }
  }

  void found(const Layout& layout) { found_.push_back(estimate(task_, layout)); }

  const Task& task_;
  const Wanted& wanted_;
  std::int64_t node_ = task_.cluster.ranks_per_node > 0 ? task_.cluster.ranks_per_node : task_.gpus;
  std::vector<Estimate> found_;
};

[[noreturn]] void refuse(std::string_view option, std::int64_t value, const std::string& why) {
  throw InvalidArgument(fmt::format("{} {}: {}", option, value, why));
}

/// Throws InvalidArgument for a fixed value that no layout of the task can have.
void check_wanted(const Task& task, const Wanted& wanted) {
  const std::int64_t gpus = task.gpus;
  const auto divides = [](const std::optional<std::int64_t>& value, std::int64_t number,
                          std::string_view option, std::string_view what) {
    if (value && number % *value != 0) {
      refuse(option, *value, fmt::format("should divide {} {}", number, what));
    }
  };
  divides(wanted.tensor, task.model.kv_heads, "--tensor", "heads of keys");
  divides(wanted.tensor, gpus, "--tensor", "GPUs");
  divides(wanted.pipeline, gpus, "--pipeline", "GPUs");
  divides(wanted.context, gpus, "--context", "GPUs");
  divides(wanted.micro_batch, task.batch, "--micro-batch", "sequences");
  if (wanted.pipeline && *wanted.pipeline > task.model.layers) {
    refuse("--pipeline", *wanted.pipeline, fmt::format("there are {} layers", task.model.layers));
  }
  if (wanted.context && *wanted.context > 1 && task.sequence % (2 * *wanted.context) != 0) {
    refuse("--context", *wanted.context,
           fmt::format("twice that should divide {} tokens (zigzag)", task.sequence));
  }
  if (wanted.expert && *wanted.expert > 1 && task.model.experts == 0) {
    refuse("--expert", *wanted.expert, task.model.name + " has no experts; try --model 8x7B");
  }
  if (task.model.experts > 0) divides(wanted.expert, task.model.experts, "--expert", "experts");
  if (wanted.schedule && wanted.pipeline.value_or(gpus) == 1) {
    throw InvalidArgument("--schedule needs a --pipeline of more than one stage");
  }
  if (wanted.chunks && wanted.schedule.value_or(Schedule::kInterleaved) != Schedule::kInterleaved) {
    refuse("--chunks", *wanted.chunks, "only --schedule interleaved has chunks");
  }
  if (wanted.sharding && *wanted.sharding != Sharding::kNone && gpus == 1) {
    throw InvalidArgument("--strategy: one GPU has nothing to share; give more --gpus");
  }
  const std::int64_t node = task.cluster.ranks_per_node;
  if (wanted.sharding == Sharding::kHybrid && (node == 0 || gpus <= node)) {
    throw InvalidArgument(
        fmt::format("--strategy hsdp needs several nodes, and {} GPUs of {} are on one; try fsdp",
                    gpus, task.cluster.name));
  }
}

/// Returns the names of the strategies that the layout uses, without their degrees.
std::vector<std::string> strategies_of(const Layout& layout) {
  std::vector<std::string> all;
  if (layout.replicas() > 1) all.emplace_back(name_of(layout.sharding));
  if (layout.expert > 1) all.emplace_back("EP");
  if (layout.context > 1) all.emplace_back("CP");
  if (layout.tensor > 1) all.emplace_back("TP");
  if (layout.pipeline > 1) all.emplace_back(name_of(layout.schedule));
  return all;
}

}  // namespace

std::vector<Estimate> search(const Task& task, const Wanted& wanted) {
  check_wanted(task, wanted);
  std::vector<Estimate> all = Search(task, wanted).run();
  if (all.empty()) {
    throw InvalidArgument(fmt::format(
        "no layout of {} GPUs for {}: data-parallel ranks must divide {} sequences, tensor "
        "parallelism {} heads of keys and a node, context parallelism {} tokens, and interleaved "
        "stages the micro-batches; change --gpus, --batch or what you fixed",
        task.gpus, task.model.name, task.batch, task.model.kv_heads, task.sequence));
  }
  // Times within half a per cent are equal here: the one that holds less comes first.
  const auto rank_of = [](const Estimate& each) {
    const double seconds = each.fits ? std::floor(std::log(each.seconds.all()) / 0.005) : 0;
    return std::tuple(!each.fits, seconds, each.memory.all());
  };
  std::ranges::stable_sort(
      all, [&](const Estimate& a, const Estimate& b) { return rank_of(a) < rank_of(b); });
  return all;
}

std::vector<Estimate> best_of_each_kind(const std::vector<Estimate>& all) {
  std::set<std::vector<std::string>> seen;
  std::vector<Estimate> best;
  for (const Estimate& each : all) {
    if (seen.insert(strategies_of(each.layout)).second) best.push_back(each);
  }
  return best;
}

std::vector<Use> best_use_of_each(const std::vector<Estimate>& all) {
  std::vector<Use> uses;
  for (const char* strategy : {"DDP", "ZeRO-1", "ZeRO-2", "FSDP", "HSDP", "TP", "CP", "EP", "GPipe",
                               "1F1B", "interleaved", "zero bubble"}) {
    const auto first = std::ranges::find_if(all, [&](const Estimate& each) {
      return std::ranges::count(strategies_of(each.layout), strategy) > 0;
    });
    if (first != all.end()) uses.push_back({strategy, *first});
  }
  return uses;
}

}  // namespace rankbox::plan
