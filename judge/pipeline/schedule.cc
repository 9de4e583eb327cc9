#include "judge/pipeline/schedule.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace rankbox {

Label label_of(const StagePass& pass, bool several_chunks) {
  std::string text = fmt::format("{}{}", pass.turn == Turn::kForward ? 'F' : 'B', pass.micro_batch);
  if (several_chunks) text += static_cast<char>('a' + pass.chunk);
  return std::string_view(text);
}

std::optional<StagePass> pass_of(Label label) {
  const std::string text = label.text();
  if (text.size() < 2 || (text[0] != 'F' && text[0] != 'B')) return std::nullopt;
  StagePass pass{text[0] == 'F' ? Turn::kForward : Turn::kBackward, 0, 0};
  const char* const end = text.data() + text.size();
  const auto number = std::from_chars(text.data() + 1, end, pass.micro_batch);
  if (number.ec != std::errc()) return std::nullopt;
  if (number.ptr == end) return pass;
  pass.chunk = *number.ptr - 'a';
  if (number.ptr + 1 != end || pass.chunk < 0 || pass.chunk > 25) return std::nullopt;
  return pass;
}

std::string in_words(const StagePass& pass, bool several_chunks) {
  std::string words =
      fmt::format("{} of micro-batch {}", pass.turn == Turn::kForward ? "forward" : "backward",
                  pass.micro_batch);
  if (several_chunks) words += fmt::format(" in chunk {}", pass.chunk);
  return words;
}

std::vector<StagePass> passes_of(const std::vector<Event>& events) {
  std::vector<StagePass> passes;
  for (const Event& event : events) {
    if (const auto pass = pass_of(label_of(event))) passes.push_back(*pass);
  }
  return passes;
}

int most_in_flight(const std::vector<StagePass>& passes) {
  int now = 0;
  int most = 0;
  for (const StagePass& pass : passes) {
    now += pass.turn == Turn::kForward ? 1 : -1;
    most = std::max(most, now);
  }
  return most;
}

namespace schedule {

namespace {

using Nth = StagePass (*)(Turn turn, int k, const PipelineShape& shape);

StagePass in_turn(Turn turn, int k, const PipelineShape& /*shape*/) { return {turn, k, 0}; }

/// Returns the k-th pass in groups of as many micro-batches as ranks. A group passes through one
/// chunk, then through the next.
StagePass in_groups(Turn turn, int k, const PipelineShape& shape) {
  const int round = shape.ranks * shape.chunks;
  const int chunk = k % round / shape.ranks;
  return {turn, shape.ranks * (k / round) + k % shape.ranks,
          turn == Turn::kForward ? chunk : shape.chunks - 1 - chunk};
}

/// Returns `warm_up` forward passes, then alternately forward and backward, then the remaining
/// backward passes.
std::vector<StagePass> with_warm_up(int warm_up, Nth nth, const PipelineShape& shape) {
  std::vector<StagePass> passes;
  for (int k = 0; k < shape.passes(); ++k) {
    passes.push_back(nth(Turn::kForward, k, shape));
    if (k >= warm_up) passes.push_back(nth(Turn::kBackward, k - warm_up, shape));
  }
  for (int k = std::max(0, shape.passes() - warm_up); k < shape.passes(); ++k)
    passes.push_back(nth(Turn::kBackward, k, shape));
  return passes;
}

}  // namespace

std::vector<StagePass> one_at_a_time(int /*rank*/, const PipelineShape& shape) {
  return with_warm_up(0, in_turn, shape);
}

std::vector<StagePass> all_forward_then_back(int /*rank*/, const PipelineShape& shape) {
  return with_warm_up(shape.passes(), in_turn, shape);
}

std::vector<StagePass> one_forward_one_back(int rank, const PipelineShape& shape) {
  return with_warm_up(std::min(shape.micro_batches, shape.ranks - 1 - rank), in_turn, shape);
}

std::vector<StagePass> interleaved(int rank, const PipelineShape& shape) {
  const int wanted = 2 * (shape.ranks - 1 - rank) + (shape.chunks - 1) * shape.ranks;
  return with_warm_up(std::min(shape.passes(), wanted), in_groups, shape);
}

double all_but_one_idle(const PipelineShape& shape) { return (shape.ranks - 1.0) / shape.ranks; }

double bubble(const PipelineShape& shape) {
  return (shape.ranks - 1.0) / (shape.passes() + shape.ranks - 1.0);
}

}  // namespace schedule
}  // namespace rankbox
