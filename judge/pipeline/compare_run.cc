#include "judge/pipeline/compare_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/pipeline/deep_model.h"

namespace rankbox {

namespace {

std::string ordinal(std::size_t number) {
  const std::size_t last = number % 100 / 10 == 1 ? 0 : number % 10;
  return fmt::format("{}{}", number, last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
}

/// Returns the bytes of a tensor of samples of this shape.
std::int64_t bytes_of(std::int64_t samples, const Shape& sample) {
  return samples * sample.elements() * kElementBytes;
}

struct Traffic {
  int messages = 0;
  std::int64_t bytes = 0;
  bool operator==(const Traffic&) const = default;
};

std::string traffic_in_words(const Traffic& traffic) {
  if (traffic.messages == 0) return "no message";
  return fmt::format("{} messages of {} bytes together", traffic.messages, traffic.bytes);
}

/// Indexed by destination.
using TrafficTo = std::map<int, Traffic>;

TrafficTo promised_traffic(int rank, const Layout& layout) {
  TrafficTo all;
  const auto add = [&](int stage, const Shape& sample) {
    Traffic& traffic = all[layout.rank_of(stage, rank)];
    traffic.messages += layout.shape.micro_batches;
    traffic.bytes += bytes_of(layout.samples, sample);
  };
  for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
    const int stage = layout.stage_of(rank, chunk);
    const StageCut cut = deep_cut(stage, layout.stages());
    if (stage + 1 < layout.stages()) add(stage + 1, cut.output);
    if (stage > 0) add(stage - 1, cut.input);
  }
  return all;
}

TrafficTo traffic_of(const std::vector<Event>& events) {
  TrafficTo all;
  for (const Event& event : events) {
    if (event.kind != EventKind::kSend) continue;
    ++all[event.peer].messages;
    all[event.peer].bytes += event.bytes;
  }
  return all;
}

/// Bytes that a stage's passes hold or release, for the largest micro-batch.
struct Footprint {
  std::int64_t saved = 0;      // kept from forward to backward
  std::int64_t postponed = 0;  // kept between the halves of backward
  std::int64_t data = 0;       // that forward reads from the data: on the first stage
  std::int64_t message = 0;    // the larger of x and y
};

Footprint footprint_of(int stage, const Layout& layout) {
  const int m = layout.shape.micro_batches;
  const std::int64_t samples = (layout.samples + m - 1) / m;
  const StageCut cut = deep_cut(stage, layout.stages());
  Sequential layers(deep_model(layout.stages()), cut.begin, cut.end);
  Saved saved;
  layers.forward(zeros({samples, cut.input.elements()}), saved);
  Footprint footprint;
  footprint.saved = saved.bytes();
  footprint.message = std::max(bytes_of(samples, cut.input), bytes_of(samples, cut.output));
  if (stage == 0) footprint.data = bytes_of(layout.samples / m, cut.input);
  if (stage + 1 == layout.stages()) footprint.saved += bytes_of(samples, cut.output);
  saved.postpone_weights();
  layers.backward(zeros({samples, cut.output.elements()}), saved);
  footprint.postponed = saved.bytes();
  return footprint;
}

std::optional<Difference> compare_in_flight(const std::vector<StagePass>& promised,
                                            const std::vector<StagePass>& actual, int rank) {
  const int most = most_in_flight(promised);
  const int in_flight = most_in_flight(actual);
  if (in_flight <= most) return std::nullopt;
  const bool in_halves = promised.back().turn == Turn::kBackwardWeights;
  return Difference{fmt::format("micro-batches between forward and {}",
                                in_halves ? "the gradients of the weights" : "backward"),
                    -1,
                    fmt::format("{} at most", most),
                    std::to_string(in_flight),
                    {"micro-batches-in-flight",
                     fmt::format("what each of them leaves in the stage lies there until its {}",
                                 in_halves ? "backward_weights" : "backward")},
                    rank};
}

std::optional<Difference> compare_bytes(const std::vector<Event>& events, int rank,
                                        const Layout& layout) {
  std::vector<Footprint> footprints;
  std::int64_t message = 0;
  for (int chunk = 0; chunk < layout.shape.chunks; ++chunk) {
    footprints.push_back(footprint_of(layout.stage_of(rank, chunk), layout));
    message = std::max(message, footprints.back().message);
  }
  std::int64_t allowed =
      static_cast<std::int64_t>(events.front().memory) + layout.messages * message;
  const std::vector<bool> is_last = last_passes(passes_of(events));
  std::size_t number = 0;
  int in_flight = 0;
  for (const Event& event : events) {
    const auto pass = pass_of(label_of(event));
    if (!pass) continue;
    const auto held = static_cast<std::int64_t>(event.memory);
    if (held > allowed) {
      return Difference{
          "bytes held",
          -1,
          fmt::format("at most {}", allowed),
          std::to_string(held),
          {"kept-too-long",
           fmt::format("before the {}, with {} in flight: what was sent, and what forward "
                       "or backward has taken, need not be kept",
                       in_words(*pass, layout.shape.chunks > 1), in_flight)},
          rank};
    }
    const Footprint& footprint = footprints[static_cast<std::size_t>(pass->chunk)];
    const bool ends = is_last[number++];
    switch (pass->turn) {
      case Turn::kForward:
        ++in_flight;
        allowed += footprint.saved - footprint.data;
        continue;
      case Turn::kBackwardWeights:
        allowed -= footprint.postponed;
        break;
      default:
        allowed += (ends ? 0 : footprint.postponed) - footprint.saved;
    }
    if (ends) --in_flight;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Difference> compare_order(const std::vector<StagePass>& promised,
                                        const std::vector<StagePass>& actual, int rank,
                                        bool several_chunks) {
  const std::size_t longest = std::max(promised.size(), actual.size());
  for (std::size_t i = 0; i < longest; ++i) {
    if (i < promised.size() && i < actual.size() && promised[i] == actual[i]) continue;
    const auto pass = [&](const std::vector<StagePass>& passes) {
      return i < passes.size() ? in_words(passes[i], several_chunks) : std::string("none");
    };
    return Difference{ordinal(i + 1) + " pass", -1, pass(promised), pass(actual), {}, rank};
  }
  return std::nullopt;
}

std::optional<Difference> compare_orders(const Trace& trace, const Schedule& schedule,
                                         const Layout& layout) {
  for (int rank = 0; rank < static_cast<int>(trace.ranks.size()); ++rank) {
    const std::vector<StagePass> promised = schedule.passes(layout.position_of(rank), layout.shape);
    const std::vector<StagePass> actual = passes_of(trace.ranks[static_cast<std::size_t>(rank)]);
    if (auto wrong = compare_order(promised, actual, rank, layout.shape.chunks > 1)) {
      wrong->hint = {
          "position-in-pipeline",
          fmt::format("it is position {} of {}, with {} micro-batches", layout.position_of(rank),
                      layout.shape.ranks, layout.shape.micro_batches)};
      return wrong;
    }
  }
  return std::nullopt;
}

std::optional<Difference> compare_messages(const Trace& trace, const Layout& layout) {
  for (int rank = 0; rank < static_cast<int>(trace.ranks.size()); ++rank) {
    TrafficTo promised = promised_traffic(rank, layout);
    TrafficTo actual = traffic_of(trace.ranks[static_cast<std::size_t>(rank)]);
    for (const TrafficTo& either : {promised, actual}) {
      for (const auto& [to, traffic] : either) {
        if (promised[to] == actual[to]) continue;
        return Difference{fmt::format("to rank {}", to),
                          -1,
                          traffic_in_words(promised[to]),
                          traffic_in_words(actual[to]),
                          {"one-activation-one-gradient",
                           "one activation down and one gradient up for each micro-batch"},
                          rank};
      }
    }
  }
  return std::nullopt;
}

std::optional<Difference> compare_idle(const RunReport& report, const Schedule& schedule,
                                       const Layout& layout) {
  const double work = layout.shape.passes() * (kForwardSeconds + kBackwardSeconds);
  const double idle = schedule.idle(layout.shape);
  const double seconds = work / (1 - idle);
  if (std::abs(report.virtual_seconds - seconds) <= 1e-9 * seconds) return std::nullopt;
  return Difference{
      "idle share of the time",
      -1,
      fmt::format("{:.4g} = {}", idle, schedule.idle_formula),
      fmt::format("{:.4g}", 1 - work / report.virtual_seconds),
      {"waits-before-needed",
       fmt::format(
           "{} ranks, {} micro-batches: {:.4g} µs of passes and waiting, where {:.4g} would do; "
           "which message does a rank wait for before it needs it?",
           layout.shape.ranks, layout.shape.micro_batches, report.virtual_seconds * 1e6,
           seconds * 1e6)},
      0};
}

std::optional<Difference> compare_held(const Trace& trace, const Schedule& schedule,
                                       const Layout& layout) {
  for (int rank = 0; rank < static_cast<int>(trace.ranks.size()); ++rank) {
    const std::vector<Event>& events = trace.ranks[static_cast<std::size_t>(rank)];
    if (events.empty()) continue;
    const std::vector<StagePass> promised = schedule.passes(layout.position_of(rank), layout.shape);
    if (auto wrong = compare_in_flight(promised, passes_of(events), rank)) return wrong;
    if (auto wrong = compare_bytes(events, rank, layout)) return wrong;
  }
  return std::nullopt;
}

}  // namespace rankbox
