// The promises of a schedule: the order of passes per rank, and the idle share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/label.h"
#include "comm/trace.h"
#include "parallel/stage.h"

namespace rankbox {

/// One pass of a micro-batch through one chunk of the rank. kBackward is a whole backward, or its
/// first half if kBackwardWeights follows: F, B and W are the labels.
struct StagePass {
  Turn turn = Turn::kForward;
  int micro_batch = 0;
  int chunk = 0;

  bool operator==(const StagePass&) const = default;
};

/// Returns "F3", or "F3b" for the second of several chunks. REQUIRES: at most 26 chunks.
Label label_of(const StagePass& pass, bool several_chunks);
/// Returns nothing if the label does not name a pass.
std::optional<StagePass> pass_of(Label label);
/// Returns "forward of micro-batch 3".
std::string in_words(const StagePass& pass, bool several_chunks);

/// Returns the passes of a rank in order, from its trace.
std::vector<StagePass> passes_of(const std::vector<Event>& events);

/// Returns, for each pass, whether it is the last one of its micro-batch in its chunk.
std::vector<bool> last_passes(const std::vector<StagePass>& passes);

/// Returns the most micro-batches that are between their forward and their last pass at once.
int most_in_flight(const std::vector<StagePass>& passes);

/// The shape of one pipeline.
struct PipelineShape {
  int ranks = 1;
  int micro_batches = 1;
  int chunks = 1;  // of each rank

  /// Returns the number of passes of each rank in each direction.
  int passes() const { return micro_batches * chunks; }
};

struct Schedule {
  std::vector<StagePass> (*passes)(int rank, const PipelineShape& shape);
  /// Returns the share of the time in which a rank is idle, if messages take none.
  double (*idle)(const PipelineShape& shape);
  const char* idle_formula;
};

namespace schedule {

std::vector<StagePass> one_at_a_time(int rank, const PipelineShape& shape);
std::vector<StagePass> all_forward_then_back(int rank, const PipelineShape& shape);
std::vector<StagePass> one_forward_one_back(int rank, const PipelineShape& shape);
std::vector<StagePass> interleaved(int rank, const PipelineShape& shape);
/// ZB-H1: 1F1B, with the weights' gradients of a micro-batch after the backward of the `rank`-th
/// one after it.
std::vector<StagePass> zero_bubble(int rank, const PipelineShape& shape);

double all_but_one_idle(const PipelineShape& shape);
double bubble(const PipelineShape& shape);
/// F, B and W take equally long.
double bubble_with_halves(const PipelineShape& shape);

inline constexpr Schedule kModelParallel = {one_at_a_time, all_but_one_idle, "(p-1)/p"};
inline constexpr Schedule kGpipe = {all_forward_then_back, bubble, "(p-1)/(m+p-1)"};
inline constexpr Schedule k1F1B = {one_forward_one_back, bubble, "(p-1)/(m+p-1)"};
inline constexpr Schedule kInterleaved = {interleaved, bubble, "(p-1)/(v·m+p-1)"};
inline constexpr Schedule kZeroBubble = {zero_bubble, bubble_with_halves,
                                         "i/(3m+i), i = max(p-1, 2p-1-m)"};

}  // namespace schedule
}  // namespace rankbox
