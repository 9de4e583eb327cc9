#include "gpu/device/arena.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <mutex>
#include <utility>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "comm/errors.h"
#include "comm/whole_number.h"
#include "gpu/device/check.h"

namespace rankbox::gpu {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// A block, as far as other threads than its owner are concerned.
struct Block {
  std::int64_t bytes = 0;
  std::int64_t released = 0;  // ranges, elsewhere
  std::int64_t used = -1;     // ranges that the owner left behind; -1: it has not ended

  bool is_unused() const { return used == released; }
};

// Never destroyed: tensors may outlive it.
struct Blocks {
  std::mutex lock;  // guards the rest; not held during a call of CUDA
  std::map<char*, Block> by_first_byte;
};

Blocks& blocks() {
  static auto* const all = new Blocks;
  return *all;
}

/// Ignores errors, which do not concern the caller.
void free_block(char* block) {
  if (cudaFree(block) != cudaSuccess) cudaGetLastError();
}

}  // namespace

std::unique_ptr<Arena> Arena::make(std::int64_t bytes) {
  for (; bytes >= kMiB; bytes /= 2) {
    bytes = bytes / kAlignment * kAlignment;
    void* block = nullptr;
    const cudaError_t status = cudaMalloc(&block, static_cast<std::size_t>(bytes));
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      continue;
    }
    check(status, "cudaMalloc", {.op = "start", .bytes = bytes});
    return std::unique_ptr<Arena>(new Arena(static_cast<char*>(block), bytes));
  }
  return nullptr;
}

Arena::Arena(char* block, std::int64_t bytes) : block_(block), bytes_(bytes) {
  free_.emplace(block, bytes);
  const std::lock_guard guard(blocks().lock);
  blocks().by_first_byte.emplace(block, Block{.bytes = bytes});
}

Arena::~Arena() {
  if (block_ == nullptr) return;
  {
    const std::lock_guard guard(blocks().lock);
    const auto mine = blocks().by_first_byte.find(block_);
    mine->second.used = static_cast<std::int64_t>(used_.size());
    if (!mine->second.is_unused()) return;
    blocks().by_first_byte.erase(mine);
  }
  free_block(block_);
}

void* Arena::take(std::int64_t bytes) {
  bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  auto best = free_.end();
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second < bytes) continue;
    if (best == free_.end() || range->second < best->second) best = range;
  }
  if (best == free_.end()) return nullptr;
  const auto [first, available] = *best;
  used_.emplace(first, bytes);
  free_.erase(best);
  if (available > bytes) free_.emplace(first + bytes, available - bytes);
  return first;
}

bool Arena::release(void* range) noexcept {
  const auto used = used_.find(range);
  if (used == used_.end()) return false;
  const auto place = free_.emplace(static_cast<char*>(range), used->second).first;
  used_.erase(used);
  const auto merge_with_next = [this](auto before) {
    const auto after = std::next(before);
    if (after == free_.end() || before->first + before->second != after->first) return;
    before->second += after->second;
    free_.erase(after);
  };
  merge_with_next(place);
  if (place != free_.begin()) merge_with_next(std::prev(place));
  return true;
}

bool Arena::release_elsewhere(void* range) noexcept {
  char* unused = nullptr;
  {
    const std::lock_guard guard(blocks().lock);
    auto block = blocks().by_first_byte.upper_bound(static_cast<char*>(range));
    if (block == blocks().by_first_byte.begin()) return false;
    --block;
    if (static_cast<char*>(range) >= block->first + block->second.bytes) return false;
    ++block->second.released;
    if (!block->second.is_unused()) return true;
    unused = block->first;
    blocks().by_first_byte.erase(block);
  }
  free_block(unused);
  return true;
}

void Arena::abandon() noexcept {
  if (block_ == nullptr) return;
  const std::lock_guard guard(blocks().lock);
  // It stays listed, as in use forever: a tensor that outlives the rank may release its range.
  Block& mine = blocks().by_first_byte.find(std::exchange(block_, nullptr))->second;
  mine.used = std::numeric_limits<std::int64_t>::max();
}

std::int64_t arena_bytes(int ranks) {
  constexpr const char* kVariable = "RANKBOX_GPU_ARENA_MIB";
  constexpr std::int64_t kMost = 8192 * kMiB;
  if (ranks == 0) return 0;
  if (const char* const text = std::getenv(kVariable); text != nullptr && *text != '\0') {
    if (const auto value = parse_whole_number(text, 0, 1 << 20)) return *value * kMiB;
    throw InvalidArgument(fmt::format(
        "{}='{}' is not a number of MiB, 0 to {}: correct or unset it", kVariable, text, 1 << 20));
  }
  std::size_t free = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo", {.op = "start"});
  return std::min(kMost, static_cast<std::int64_t>(free) / 2 / ranks);
}

}  // namespace rankbox::gpu
