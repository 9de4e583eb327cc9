#include "cli/compare/measure/buffer_pool.h"

#include <algorithm>

#include "cli/compare/plan/algorithms.h"

namespace rankbox::cli {
namespace {

void copy_all(Tensor& into, const Tensor& from) {
  if (!from.empty()) copy(into, from);
}

std::int64_t count_of(const RankPart& part, std::int64_t bytes) {
  const std::int64_t each = part.elements * size_of(Tensor::dtype());
  return each == 0 ? 1 : std::clamp<std::int64_t>(bytes / each, 1, BufferPool::kMostBuffers);
}

}  // namespace

BufferPool::BufferPool(const RankPart& part, std::int64_t bytes) {
  for (std::int64_t i = 0; i < count_of(part, bytes); ++i) {
    Buffers& buffers = buffers_.emplace_back(make_buffers(part));
    if (i == 0) {
      fill_input(buffers, part);
    } else {
      copy_all(buffers.input, buffers_.front().input);
      copy_all(buffers.output, buffers_.front().output);
    }
  }
  // The input of reduce_scatter is work space.
  if (is_reducing(part.collective)) original_ = buffers_.front().input;
}

Buffers& BufferPool::next() {
  Buffers& buffers = buffers_[next_];
  next_ = (next_ + 1) % buffers_.size();
  dirty_ = std::min(dirty_ + 1, buffers_.size());
  return buffers;
}

void BufferPool::restore() {
  for (; dirty_ > 0; --dirty_) {
    copy_all(buffers_[(next_ + buffers_.size() - dirty_) % buffers_.size()].input, original_);
  }
}

}  // namespace rankbox::cli
