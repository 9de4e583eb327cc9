#include "judge/pipeline/schedule.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace rankbox {

namespace {

struct Kind {
  Turn turn;
  char letter;
  const char* words;
};

constexpr Kind kKinds[] = {{Turn::kForward, 'F', "forward"},
                           {Turn::kBackward, 'B', "backward"},
                           {Turn::kBackwardWeights, 'W', "gradients of the weights"}};

const Kind& kind_of(Turn turn) {
  return *std::ranges::find(kKinds, turn == Turn::kBackwardInput ? Turn::kBackward : turn,
                            &Kind::turn);
}

}  // namespace

Label label_of(const StagePass& pass, bool several_chunks) {
  std::string text = fmt::format("{}{}", kind_of(pass.turn).letter, pass.micro_batch);
  if (several_chunks) text += static_cast<char>('a' + pass.chunk);
  return std::string_view(text);
}

std::optional<StagePass> pass_of(Label label) {
  const std::string text = label.text();
  const auto* const kind = std::ranges::find(kKinds, text.empty() ? ' ' : text[0], &Kind::letter);
  if (text.size() < 2 || kind == std::end(kKinds)) return std::nullopt;
  StagePass pass{kind->turn, 0, 0};
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
      fmt::format("{} of micro-batch {}", kind_of(pass.turn).words, pass.micro_batch);
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

std::vector<bool> last_passes(const std::vector<StagePass>& passes) {
  std::vector<bool> is_last(passes.size());
  std::set<std::pair<int, int>> seen;
  for (std::size_t i = passes.size(); i-- > 0;)
    is_last[i] = seen.emplace(passes[i].micro_batch, passes[i].chunk).second;
  return is_last;
}

int most_in_flight(const std::vector<StagePass>& passes) {
  const std::vector<bool> is_last = last_passes(passes);
  int now = 0;
  int most = 0;
  for (std::size_t i = 0; i < passes.size(); ++i) {
    const bool is_forward = passes[i].turn == Turn::kForward;
    if (is_forward) most = std::max(most, ++now);
    if (!is_forward && is_last[i]) --now;
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

std::vector<StagePass> zero_bubble(int rank, const PipelineShape& shape) {
  std::vector<StagePass> passes;
  int weights = 0;
  for (const StagePass& pass : one_forward_one_back(rank, shape)) {
    passes.push_back(pass);
    if (pass.turn == Turn::kBackward && pass.micro_batch >= rank)
      passes.push_back({Turn::kBackwardWeights, weights++, 0});
  }
  while (weights < shape.micro_batches) passes.push_back({Turn::kBackwardWeights, weights++, 0});
  return passes;
}

double all_but_one_idle(const PipelineShape& shape) { return (shape.ranks - 1.0) / shape.ranks; }

double bubble(const PipelineShape& shape) {
  return (shape.ranks - 1.0) / (shape.passes() + shape.ranks - 1.0);
}

double bubble_with_halves(const PipelineShape& shape) {
  const double idle = std::max(shape.ranks - 1, 2 * shape.ranks - 1 - shape.micro_batches);
  return idle / (3.0 * shape.micro_batches + idle);
}

}  // namespace schedule
}  // namespace rankbox
