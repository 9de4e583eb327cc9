// How a model is spread over GPUs: the degrees of parallelism, whose product is all of them.
//
// Ranks are numbered as Megatron numbers them: tensor parallel ranks are next to each other, then
// come context, data and pipeline. So a tensor parallel group stays in a node where it fits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rankbox::plan {

/// What data-parallel ranks share of one replica's state.
enum class Sharding {
  kNone,    // DDP: all of it on each
  kZero1,   // optimizer
  kZero2,   // and gradients
  kZero3,   // and weights: FSDP
  kHybrid,  // FSDP among the ranks of a node, replicas between nodes: HSDP
};

/// The order of passes in a pipeline (chapter 8).
enum class Schedule { kGpipe, k1f1b, kInterleaved, kZeroBubble };

struct Layout {
  std::int64_t data = 1;
  std::int64_t tensor = 1;
  std::int64_t pipeline = 1;
  std::int64_t context = 1;
  std::int64_t expert = 1;  // part of `data`: divides it
  std::int64_t shard = 1;   // data-parallel ranks that share: `data`, or those of a node
  Sharding sharding = Sharding::kNone;
  Schedule schedule = Schedule::k1f1b;
  std::int64_t chunks = 1;         // of a rank's layers, for kInterleaved
  std::int64_t micro_batch = 1;    // sequences in one pass
  std::int64_t micro_batches = 1;  // passes in a step, of each rank
  bool recomputes = false;         // keeps a layer's input alone, and runs it forward again

  std::int64_t gpus() const { return data * tensor * pipeline * context; }
  /// Ranks that hold the same weights of a dense layer, before sharding.
  std::int64_t replicas() const { return data * context; }
};

std::string_view name_of(Sharding sharding);  // "DDP", "ZeRO-1", "ZeRO-2", "FSDP", "HSDP"
std::string_view name_of(Schedule schedule);  // "GPipe", "1F1B", "interleaved", "zero bubble"

/// Returns "FSDP 32 (EP 8) × TP 8", "HSDP 4·8 × CP 2" or "ZeRO-1 4 × TP 8 × PP 8 (interleaved 2)".
/// The product of the numbers outside parentheses is the number of GPUs.
std::string name_of(const Layout& layout);

}  // namespace rankbox::plan
