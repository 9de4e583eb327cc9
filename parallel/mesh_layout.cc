#include "parallel/mesh_layout.h"

#include <algorithm>

#include <fmt/format.h>

#include "comm/errors.h"
#include "compute/for_each.h"

namespace rankbox {

namespace {

void cut(std::int64_t& first, std::int64_t& last, std::int64_t k, std::int64_t parts) {
  const std::int64_t n = last - first;
  last = first + n * (k + 1) / parts;
  first += n * k / parts;
}

std::string in_words(const Region& region) {
  return fmt::format("rows [{}, {}) and columns [{}, {})", region.first_row, region.last_row,
                     region.first_column, region.last_column);
}

void check(const char* function, const Tensor& tensor, const Region& region, const Region& part,
           Slice packed) {
  if (tensor.size() != region.elements() || packed.size() != part.elements() ||
      packed.dtype() != DType::kFloat32) {
    throw InvalidArgument(fmt::format(
        "{}: a tensor of {} elements for {}, and {} packed ones for {}: pass tensors of that size",
        function, tensor.size(), in_words(region), packed.size(), in_words(part)));
  }
  if (part.elements() > 0 && intersection(region, part) != part) {
    throw InvalidArgument(fmt::format("{}: {} are not all in {}: intersect them", function,
                                      in_words(part), in_words(region)));
  }
}

/// Returns where the part begins in the tensor that holds the region.
std::int64_t begin_of(const Region& part, const Region& region) {
  return (part.first_row - region.first_row) * region.columns() + part.first_column -
         region.first_column;
}

}  // namespace

Region region_of(const MeshLayout& layout, int rank, std::int64_t rows, std::int64_t columns) {
  Region region = {0, rows, 0, columns};
  const std::array<int, 2> place = {rank / layout.mesh[1], rank % layout.mesh[1]};
  for (std::size_t dimension = 0; dimension < place.size(); ++dimension) {
    const int k = place[dimension], parts = layout.mesh[dimension];
    if (layout.placements[dimension] == Placement::kShard0)
      cut(region.first_row, region.last_row, k, parts);
    if (layout.placements[dimension] == Placement::kShard1)
      cut(region.first_column, region.last_column, k, parts);
  }
  return region;
}

Region intersection(const Region& a, const Region& b) {
  const Region both = {std::max(a.first_row, b.first_row), std::min(a.last_row, b.last_row),
                       std::max(a.first_column, b.first_column),
                       std::min(a.last_column, b.last_column)};
  return both.rows() > 0 && both.columns() > 0 ? both : Region();
}

void pack_part(const Tensor& tensor, const Region& region, const Region& part, Slice packed) {
  check("pack_part", tensor, region, part, packed);
  if (part.elements() == 0) return;
  const float* const from = tensor.data() + begin_of(part, region);
  auto* const to = static_cast<float*>(packed.data());
  const std::int64_t width = part.columns(), stride = region.columns();
  for_each(part.rows(), width, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
    to[row * width + column] = from[row * stride + column];
  });
}

void unpack_part(Slice packed, const Region& part, Tensor& tensor, const Region& region) {
  check("unpack_part", tensor, region, part, packed);
  if (part.elements() == 0) return;
  const auto* const from = static_cast<const float*>(packed.data());
  float* const to = tensor.data() + begin_of(part, region);
  const std::int64_t width = part.columns(), stride = region.columns();
  for_each(part.rows(), width, [=] RANKBOX_PORTABLE(std::int64_t row, std::int64_t column) {
    to[row * stride + column] = from[row * width + column];
  });
}

}  // namespace rankbox
