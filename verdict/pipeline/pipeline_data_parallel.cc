#include "verdict/pipeline/pipeline_data_parallel.h"

#include <fmt/format.h>

#include "verdict/pipeline/deep_model.h"
#include "verdict/pipeline/layout.h"

namespace rankbox {

namespace {

/// What each rank should bring to native collectives: its stage's gradients, once.
std::int64_t gradient_bytes(int rank, const Layout& layout) {
  const StageCut cut = deep_cut(layout.position_of(rank), layout.stages());
  Sequential layers(deep_model(layout.stages()), cut.begin, cut.end);
  return count_elements(layers.parameters()) * kElementBytes;
}

std::int64_t collective_bytes(const std::vector<Event>& events) {
  std::int64_t bytes = 0;
  for (const Event& event : events) bytes += event.kind == EventKind::kCollective ? event.bytes : 0;
  return bytes;
}

}  // namespace

std::vector<Case> PipelineDataParallel::cases_of(int world_size) const {
  std::vector<Case> some;
  for (int replicas = 1; replicas <= world_size; ++replicas) {
    if (world_size % replicas != 0) continue;
    Case example;
    example.world_size = world_size;
    example.replicas = replicas;
    example.segments = 3;
    example.count = 7;  // no multiple: one micro-batch is larger
    some.push_back(example);
  }
  return some;
}

std::optional<Difference> PipelineDataParallel::compare_schedule(const RunReport& report,
                                                                 const Case& example) const {
  if (*example.steps > 0) return std::nullopt;
  if (auto wrong = PipelineSubject::compare_schedule(report, example)) return wrong;
  const Layout layout = layout_of(example);
  for (int rank = 0; rank < example.world_size; ++rank) {
    const std::int64_t promised = gradient_bytes(rank, layout);
    const std::int64_t actual =
        collective_bytes(report.trace.ranks[static_cast<std::size_t>(rank)]);
    if (actual == promised) continue;
    return Difference{"bytes to native collectives",
                      -1,
                      std::to_string(promised),
                      std::to_string(actual),
                      "the gradients of this rank's stage, once",
                      rank};
  }
  return std::nullopt;
}

}  // namespace rankbox
