// What a schedule promises: which stage does what in which order, and what of the time is idle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "comm/label.h"
#include "comm/trace.h"
#include "parallel/stage.h"

namespace rankbox {

/// One pass of a micro-batch through one chunk, of the rank's own.
struct StagePass {
  Turn turn = Turn::kForward;
  int micro_batch = 0;
  int chunk = 0;

  bool operator==(const StagePass&) const = default;
};

/// "F3", of the second chunk "F3b". REQUIRES: at most 26 chunks.
Label label_of(const StagePass& pass, bool several_chunks);
/// Nothing if it is no such label.
std::optional<StagePass> pass_of(Label label);
/// "forward of micro-batch 3"
std::string in_words(const StagePass& pass, bool several_chunks);

/// What a rank did, in order, as its trace tells.
std::vector<StagePass> passes_of(const std::vector<Event>& events);

/// So many passes are between forward and backward at most.
int most_in_flight(const std::vector<StagePass>& passes);

/// One pipeline.
struct PipelineShape {
  int ranks = 1;
  int micro_batches = 1;
  int chunks = 1;  // of each rank

  /// So many passes in each direction has every rank.
  int passes() const { return micro_batches * chunks; }
};

struct Schedule {
  std::vector<StagePass> (*passes)(int rank, const PipelineShape& shape);
  /// The share of the time in which a rank has nothing to do, if messages take none.
  double (*idle)(const PipelineShape& shape);
  const char* idle_formula;
};

namespace schedule {

std::vector<StagePass> one_at_a_time(int rank, const PipelineShape& shape);
std::vector<StagePass> all_forward_then_back(int rank, const PipelineShape& shape);
std::vector<StagePass> one_forward_one_back(int rank, const PipelineShape& shape);
std::vector<StagePass> interleaved(int rank, const PipelineShape& shape);

double all_but_one_idle(const PipelineShape& shape);
double bubble(const PipelineShape& shape);

inline constexpr Schedule kModelParallel = {one_at_a_time, all_but_one_idle, "(p-1)/p"};
inline constexpr Schedule kGpipe = {all_forward_then_back, bubble, "(p-1)/(m+p-1)"};
inline constexpr Schedule k1F1B = {one_forward_one_back, bubble, "(p-1)/(m+p-1)"};
inline constexpr Schedule kInterleaved = {interleaved, bubble, "(p-1)/(v·m+p-1)"};

}  // namespace schedule
}  // namespace rankbox
