// Elements at regular distances: a column of a matrix, every second row.
//
//   Tensor column(rows);
//   pack(column, columns_of(matrix, 0, 1));       // column = matrix[:, 0]
//   dist.sendrecv_replace(column, left, right);
//   unpack(column, columns_of(matrix, 5, 6));     // matrix[:, 5] = column
//
// Messages are contiguous, as NCCL's are: what lies apart is packed first.
#pragma once

#include <cstdint>

#include "comm/place.h"
#include "comm/slice.h"
#include "comm/tensor.h"

namespace rankbox {

/// `count` pieces of `width` elements of a slice: piece i begins at element begin + i * stride.
struct StridedSlice {
  Slice whole;
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t width = 1;
  std::int64_t stride = 1;

  std::int64_t size() const { return count * width; }  // elements
};

/// Returns columns [begin, end) of a matrix. Throws InvalidArgument unless the tensor has two
/// extents, and 0 <= begin <= end <= the second.
StridedSlice columns_of(Slice matrix, const Shape& shape, std::int64_t begin, std::int64_t end,
                        Place place = Place::current());
template <class T>
StridedSlice columns_of(TensorOf<T>& matrix, std::int64_t begin, std::int64_t end,
                        Place place = Place::current()) {
  return columns_of(matrix, matrix.shape(), begin, end, place);
}
template <class T>
StridedSlice columns_of(const TensorOf<T>& matrix, std::int64_t begin, std::int64_t end,
                        Place place = Place::current()) {
  return columns_of(matrix, matrix.shape(), begin, end, place);
}

/// into = the pieces of `from`, one after the other. A local copy: free in virtual time, and one
/// kernel on a GPU. Errors: InvalidArgument unless both have the same number of elements and the
/// same dtype, all pieces are inside the slice, apart from each other, and apart from `into`; and
/// as copy().
void pack(Slice into, const StridedSlice& from, Place place = Place::current());

/// The pieces of `into` = from, one after the other. Likewise.
void unpack(Slice from, const StridedSlice& into, Place place = Place::current());

}  // namespace rankbox
