#include "compute/strided.h"

#include <cstdint>

#include <fmt/format.h>

#include "comm/memory_meter.h"
#include "comm/ownership.h"
#include "comm/tensor_checks.h"
#include "comm/without_data.h"
#include "compute/for_each.h"

namespace rankbox {
namespace {

Slice piece(const StridedSlice& all, std::int64_t i) {
  const std::int64_t begin = all.begin + i * all.stride;
  return all.whole.sub(begin, begin + all.width);
}

/// Throws InvalidArgument as pack() says, but for what the copy of a piece would throw.
void check_pieces(const char* function, Slice packed, const StridedSlice& apart, Place place) {
  const bool is_possible = apart.begin >= 0 && apart.count >= 0 && apart.width >= 0 &&
                           (apart.count < 2 || apart.stride >= apart.width);
  const std::int64_t last = apart.count == 0 ? 0 : apart.begin + (apart.count - 1) * apart.stride;
  if (!is_possible || last + (apart.count == 0 ? 0 : apart.width) > apart.whole.size()) {
    refuse_arithmetic(
        function,
        fmt::format("{} pieces of {} elements from element {} on, {} apart, do not "
                    "fit in a slice of {}",
                    apart.count, apart.width, apart.begin, apart.stride, apart.whole.size()),
        place);
  }
  if (packed.size() != apart.size()) {
    refuse_arithmetic(function,
                      fmt::format("{} elements for {} pieces of {}: {} are needed", packed.size(),
                                  apart.count, apart.width, apart.size()),
                      place);
  }
  if (apart.size() > 0 && overlap(packed, apart.whole.sub(apart.begin, last + apart.width))) {
    refuse_arithmetic(function, "the packed elements lie between the pieces; use another tensor",
                      place);
  }
}

/// Moves the elements in the direction that `packs` says.
template <class Bytes>
void move(void* packed, const StridedSlice& apart, bool packs) {
  auto* const near = static_cast<Bytes*>(packed);
  auto* const far = static_cast<Bytes*>(apart.whole.data()) + apart.begin;
  const std::int64_t width = apart.width;
  const std::int64_t stride = apart.stride;
  if (packs) {
    for_each(apart.count, width, [=] RANKBOX_PORTABLE(std::int64_t i, std::int64_t k) {
      near[i * width + k] = far[i * stride + k];
    });
  } else {
    for_each(apart.count, width, [=] RANKBOX_PORTABLE(std::int64_t i, std::int64_t k) {
      far[i * stride + k] = near[i * width + k];
    });
  }
}

void move_all(const char* function, Slice packed, const StridedSlice& apart, bool packs,
              Place place) {
  check_pieces(function, packed, apart, place);
  // What a copy of each piece checks and notes.
  for (std::int64_t i = 0; i < apart.count; ++i) {
    const Slice here = packed.sub(i * apart.width, (i + 1) * apart.width);
    const Slice there = piece(apart, i);
    packs ? check_pair(function, here, there, place) : check_pair(function, there, here, place);
    note_memory(packs ? memory_note(MemoryNote::Kind::kCopy, here, there)
                      : memory_note(MemoryNote::Kind::kCopy, there, here));
  }
  const Slice from = packs ? apart.whole : packed;
  const Slice into = packs ? packed : apart.whole;
  if (apart.size() == 0 || has_no_data(into.data())) return;
  require_data(from.data(), function, place);
  switch (size_of(packed.dtype())) {
    case 1:
      return move<std::uint8_t>(packed.data(), apart, packs);
    case 2:
      return move<std::uint16_t>(packed.data(), apart, packs);
    case 4:
      return move<std::uint32_t>(packed.data(), apart, packs);
    default:
      return move<std::uint64_t>(packed.data(), apart, packs);
  }
}

}  // namespace

StridedSlice columns_of(Slice matrix, const Shape& shape, std::int64_t begin, std::int64_t end,
                        Place place) {
  const bool is_matrix = shape.extents().size() == 2;
  if (!is_matrix || begin < 0 || begin > end || end > shape.extents()[1]) {
    refuse_arithmetic("columns_of",
                      fmt::format("columns [{}, {}) do not exist: {}", begin, end,
                                  is_matrix ? fmt::format("the matrix has {}", shape.extents()[1])
                                            : fmt::format("the tensor has {} extents, not 2",
                                                          shape.extents().size())),
                      place);
  }
  return {matrix, begin, shape.extents()[0], end - begin, shape.extents()[1]};
}

void pack(Slice into, const StridedSlice& from, Place place) {
  move_all("pack", into, from, /*packs=*/true, place);
}

void unpack(Slice from, const StridedSlice& into, Place place) {
  move_all("unpack", from, into, /*packs=*/false, place);
}

}  // namespace rankbox
