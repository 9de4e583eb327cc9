// Regions of all layouts cover a matrix, and parts of them are packed and unpacked.
#include "parallel/mesh_layout.h"

#include <vector>

#include <doctest/doctest.h>

#include "comm/errors.h"

namespace rankbox {
namespace {

constexpr Placement kAll[] = {Placement::kReplicate, Placement::kShard0, Placement::kShard1};

TEST_CASE("parts of rows and columns, as the header draws them") {
  using enum Placement;
  struct Row {
    MeshLayout layout;
    int rank;
    Region region;  // of 5 rows, 7 columns
  };
  const Row table[] = {
      {{{2, 2}, {kReplicate, kReplicate}}, 3, {0, 5, 0, 7}},
      {{{2, 2}, {kShard0, kShard1}}, 1, {0, 2, 3, 7}},
      {{{2, 2}, {kShard1, kShard0}}, 1, {2, 5, 0, 3}},
      {{{2, 2}, {kReplicate, kShard0}}, 3, {2, 5, 0, 7}},
      {{{2, 2}, {kShard0, kReplicate}}, 1, {0, 2, 0, 7}},
      {{{2, 2}, {kShard0, kShard0}}, 2, {2, 3, 0, 7}},  // the first half of rows 2 to 4
      {{{2, 3}, {kShard1, kShard1}}, 5, {0, 5, 5, 7}},  // the last third of columns 3 to 6
      {{{1, 8}, {kReplicate, kShard0}}, 0, {0, 0, 0, 7}},
      {{{3, 1}, {kShard1, kShard0}}, 2, {0, 5, 4, 7}},
  };
  for (const Row& row : table) {
    CAPTURE(row.rank);
    CHECK(region_of(row.layout, row.rank, 5, 7) == row.region);
  }
}

TEST_CASE("each element is in as many ranks' regions as there are replicas") {
  for (const auto& mesh : std::vector<std::array<int, 2>>{{1, 1}, {1, 3}, {4, 1}, {2, 3}, {3, 4}}) {
    for (const Placement first : kAll) {
      for (const Placement second : kAll) {
        const MeshLayout layout = {mesh, {first, second}};
        const int replicas = (first == Placement::kReplicate ? mesh[0] : 1) *
                             (second == Placement::kReplicate ? mesh[1] : 1);
        constexpr std::int64_t kRows = 5, kColumns = 2;
        std::vector<int> holders(kRows * kColumns);
        for (int rank = 0; rank < mesh[0] * mesh[1]; ++rank) {
          const Region region = region_of(layout, rank, kRows, kColumns);
          for (std::int64_t i = region.first_row; i < region.last_row; ++i) {
            for (std::int64_t j = region.first_column; j < region.last_column; ++j)
              ++holders[static_cast<std::size_t>(i * kColumns + j)];
          }
        }
        CHECK(holders == std::vector<int>(kRows * kColumns, replicas));
      }
    }
  }
}

TEST_CASE("what two regions have in common") {
  CHECK(intersection({0, 4, 0, 4}, {2, 6, 1, 3}) == Region{2, 4, 1, 3});
  CHECK(intersection({0, 2, 0, 4}, {2, 6, 0, 4}) == Region());
  CHECK(intersection({0, 2, 3, 3}, {0, 2, 0, 4}) == Region());
}

TEST_CASE("a part is packed row by row, and unpacked to its place") {
  // Rows 1 to 2 and columns 2 to 4 of a matrix whose element (i, j) is 10 i + j.
  const Tensor tensor = from_host(std::vector<float>{12, 13, 14, 22, 23, 24}, {2, 3});
  const Region region = {1, 3, 2, 5};
  Tensor packed(Shape(4));
  pack_part(tensor, region, {1, 3, 3, 5}, packed);
  CHECK(to_host(packed) == std::vector<float>{13, 14, 23, 24});
  Tensor back = zeros({2, 3});
  unpack_part(packed, {1, 3, 3, 5}, back, region);
  CHECK(to_host(back) == std::vector<float>{0, 13, 14, 0, 23, 24});

  Tensor none;
  pack_part(tensor, region, {}, none);
  unpack_part(none, {}, back, region);
  CHECK(to_host(back) == std::vector<float>{0, 13, 14, 0, 23, 24});
}

TEST_CASE("parts outside the region, and other sizes are refused") {
  Tensor tensor = zeros({2, 3}), packed = zeros(4);
  const Region region = {1, 3, 2, 5};
  CHECK_THROWS_AS(pack_part(tensor, region, {0, 2, 3, 5}, packed), InvalidArgument);
  CHECK_THROWS_AS(pack_part(tensor, region, {1, 3, 4, 5}, packed), InvalidArgument);
  CHECK_THROWS_AS(pack_part(packed, region, {1, 3, 3, 5}, packed), InvalidArgument);
  CHECK_THROWS_AS(unpack_part(packed, {1, 3, 1, 3}, tensor, region), InvalidArgument);
  CHECK_THROWS_AS(unpack_part(packed, {1, 3, 4, 5}, tensor, region), InvalidArgument);
}

}  // namespace
}  // namespace rankbox
