#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "cli/picture/goal.h"
#include "comm/errors.h"

namespace rankbox::cli {
namespace {

/// Writes one rank: what follows a wait, or a blocking call, requires it.
class RankWriter {
 public:
  RankWriter(std::ostream& out, double gamma) : out_(out), gamma_(gamma) {}

  void write(const std::vector<Event>& events) {
    for (std::size_t i = 0; i < events.size(); ++i) {
      const Event& event = events[i];
      const bool is_second_half = i > 0 && is_paired(events[i - 1]);
      switch (event.kind) {
        case EventKind::kWait:
          wait(event.request);
          break;
        case EventKind::kReduce:
          calculate(static_cast<double>(event.bytes) * gamma_);
          break;
        case EventKind::kCompute:
          calculate(event.seconds);
          break;
        case EventKind::kCollective:
          if (event.collective == CollectiveKind::kSplit) break;
          throw InvalidArgument(
              fmt::format("--goal: GOAL has messages alone, and the run has a native {} ({}:{}): "
                          "use the topologies of the exercises",
                          name_of(event), event.place.file_name(), event.place.line()));
        case EventKind::kSend:
        case EventKind::kRecv:
          const std::size_t label = message(event);
          if (event.async) {
            started_[event.request] = {label, required_};
          } else if (is_paired(event)) {
            first_half_ = label;  // the other half requires the same
          } else {
            required_ = {label};
            if (is_second_half) required_.push_back(first_half_);
          }
          break;
      }
    }
  }

 private:
  struct Started {
    std::size_t label;
    std::vector<std::size_t> required;
  };

  static bool is_paired(const Event& event) {
    return event.kind == EventKind::kSend && event.paired;
  }

  /// What follows requires what was started, and so no longer what that itself required.
  void wait(std::uint32_t request) {
    const auto found = started_.find(request);
    if (found == started_.end()) return;
    const Started& started = found->second;
    std::erase_if(required_, [&](std::size_t label) {
      return std::ranges::find(started.required, label) != started.required.end();
    });
    required_.push_back(started.label);
    started_.erase(found);
  }

  void calculate(double seconds) {
    const auto label = begin(fmt::format("calc {:.0f}", std::round(seconds * 1e9)));
    required_ = {label};
  }

  std::size_t message(const Event& event) {
    const bool sends = event.kind == EventKind::kSend;
    return begin(fmt::format("{} {}b {} {} tag {}", sends ? "send" : "recv", event.bytes,
                             sends ? "to" : "from", event.peer, event.group));
  }

  std::size_t begin(const std::string& text) {
    fmt::print(out_, "l{}: {}\n", ++last_, text);
    for (const std::size_t label : required_) fmt::print(out_, "l{} requires l{}\n", last_, label);
    return last_;
  }

  std::ostream& out_;
  const double gamma_;
  std::size_t last_ = 0;
  std::size_t first_half_ = 0;
  std::vector<std::size_t> required_;                   // by whatever comes next
  std::unordered_map<std::uint32_t, Started> started_;  // [request]
};

}  // namespace

void write_goal(std::ostream& out, const Trace& trace, double gamma) {
  if (trace.left_out > 0) {
    throw InvalidArgument(fmt::format(
        "--goal: {} events of the run were not kept: use fewer ranks or steps", trace.left_out));
  }
  fmt::print(out, "num_ranks {}\n", trace.ranks.size());
  for (std::size_t rank = 0; rank < trace.ranks.size(); ++rank) {
    fmt::print(out, "\nrank {} {{\n", rank);
    RankWriter(out, gamma).write(trace.ranks[rank]);
    fmt::print(out, "}}\n");
  }
}

}  // namespace rankbox::cli
