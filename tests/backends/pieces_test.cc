// Collectives of pieces that differ in size, also of none: gather_v, all_gather_v, scatter_v,
// all_to_all_v, and all_gather of chunks.
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/values.h"
#include "tests/backends/worlds.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

using Sizes = std::vector<std::int64_t>;

/// Returns the elements that rank `src` sends to rank `dst`.
using PieceOf = std::int64_t (*)(std::int64_t src, std::int64_t dst);

struct Shares {
  const char* name;
  PieceOf of;
};

const Shares kShares[] = {
    {"nothing", [](std::int64_t, std::int64_t) -> std::int64_t { return 0; }},
    {"equal pieces", [](std::int64_t, std::int64_t) -> std::int64_t { return 5; }},
    {"all different", [](std::int64_t src, std::int64_t dst) { return 1 + 3 * src + 11 * dst; }},
    {"from one rank only",
     [](std::int64_t src, std::int64_t) -> std::int64_t { return src == 0 ? 7 : 0; }},
    {"to the last ranks only",
     [](std::int64_t src, std::int64_t dst) -> std::int64_t { return dst < 2 ? 0 : 4 + src % 2; }},
    {"long", [](std::int64_t src, std::int64_t dst) { return 9'001 + 1'000 * src - 13 * dst; }},
};

std::int64_t sum(const Sizes& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
}

/// One rank's calls of all collectives. Records mistakes.
template <class T>
class Walk {
 public:
  Walk(Comm& dist, PieceOf piece_of, bool async)
      : dist_(dist), piece_of_(piece_of), async_(async) {}

  std::string wrong() {
    for (int root = 0; root < p(); ++root) {
      for (const bool in_place : {false, true}) {
        gather_v(root, in_place);
        scatter_v(root, in_place);
      }
    }
    for (const bool in_place : {false, true}) all_gather_v(in_place);
    all_to_all_v();
    return wrong_;
  }

 private:
  void gather_v(int root, bool in_place) {
    const bool at_root = rank() == root;
    const Sizes counts = at_root ? received(root) : Sizes();
    TensorOf<T> gathered = full<T>(at_root ? sum(counts) : 2, static_cast<T>(-99));
    TensorOf<T> mine = from_host(inputs<T>(ReduceOp::SUM, rank(), size(rank(), root)));
    Slice slice = mine;
    if (in_place && at_root) copy(slice = place_in(gathered, counts), mine);
    if (async_) {
      const Request request = dist_.gather_v_async(slice, gathered, Sizes(counts), root);
      dist_.wait(request);
    } else {
      dist_.gather_v(slice, gathered, counts, root);
    }
    const std::vector<T> ignored(2, static_cast<T>(-99));
    expect(same(to_host(gathered), at_root ? all_for(root, false) : ignored), "gather_v");
    expect(same(to_host(mine), inputs<T>(ReduceOp::SUM, rank(), size(rank(), root))),
           "input of gather_v");
  }

  void all_gather_v(bool in_place) {
    const Sizes counts = received(0);
    TensorOf<T> gathered = full<T>(sum(counts), static_cast<T>(-99));
    const TensorOf<T> mine = from_host(inputs<T>(ReduceOp::SUM, rank(), size(rank(), 0)));
    Slice slice = mine;
    if (in_place) copy(slice = place_in(gathered, counts), mine);
    async_ ? dist_.wait(dist_.all_gather_v_async(slice, gathered, counts))
           : dist_.all_gather_v(slice, gathered, counts);
    expect(same(to_host(gathered), all_for(0, false)), "all_gather_v");
  }

  void scatter_v(int root, bool in_place) {
    const bool at_root = rank() == root;
    const Sizes counts = at_root ? sent(root) : Sizes();
    TensorOf<T> whole = at_root ? from_host(inputs<T>(ReduceOp::SUM, root, sum(counts)))
                                : full<T>(2, static_cast<T>(5));
    TensorOf<T> piece = zeros<T>(size(root, rank()));
    const Slice slice = in_place && at_root ? place_in(whole, counts) : Slice(piece);
    if (async_) {
      const Request request = dist_.scatter_v_async(whole, Sizes(counts), slice, root);
      dist_.wait(request);
    } else {
      dist_.scatter_v(whole, counts, slice, root);
    }
    const std::int64_t begin = begin_of(root, rank());
    expect(same(host_copy<T>(slice),
                inputs<T>(ReduceOp::SUM, root, begin, begin + size(root, rank()))),
           "scatter_v");
  }

  void all_to_all_v() {
    const TensorOf<T> mine = from_host(inputs<T>(ReduceOp::SUM, rank(), sum(sent(rank()))));
    TensorOf<T> output = full<T>(sum(received(rank())), static_cast<T>(-99));
    if (async_) {
      const Request request =
          dist_.all_to_all_v_async(mine, sent(rank()), output, received(rank()));
      dist_.wait(request);
    } else {
      dist_.all_to_all_v(mine, sent(rank()), output, received(rank()));
    }
    expect(same(to_host(output), all_for(rank(), true)), "all_to_all_v");
    expect(same(to_host(mine), inputs<T>(ReduceOp::SUM, rank(), mine.size())),
           "input of all_to_all_v");
  }

  int p() const { return dist_.world_size(); }
  int rank() const { return dist_.rank(); }
  std::int64_t size(int src, int dst) const { return piece_of_(src, dst); }
  Sizes sent(int src) const {
    Sizes sizes;
    for (int dst = 0; dst < p(); ++dst) sizes.push_back(size(src, dst));
    return sizes;
  }
  Sizes received(int dst) const {
    Sizes sizes;
    for (int src = 0; src < p(); ++src) sizes.push_back(size(src, dst));
    return sizes;
  }
  std::int64_t begin_of(int src, int dst) const {
    std::int64_t begin = 0;
    for (int before = 0; before < dst; ++before) begin += size(src, before);
    return begin;
  }
  /// Returns this rank's piece of a slice that is divided by counts.
  Slice place_in(Slice whole, const Sizes& counts) const {
    const auto mine = counts.begin() + rank();
    const std::int64_t begin = std::accumulate(counts.begin(), mine, std::int64_t{0});
    return whole.sub(begin, begin + *mine);
  }
  /// Returns what all ranks send to one, in rank order.
  /// @param is_part it is a piece of what they send, else everything
  std::vector<T> all_for(int dst, bool is_part) const {
    std::vector<T> all;
    for (int src = 0; src < p(); ++src) {
      const std::int64_t begin = is_part ? begin_of(src, dst) : 0;
      const std::vector<T> piece = inputs<T>(ReduceOp::SUM, src, begin, begin + size(src, dst));
      all.insert(all.end(), piece.begin(), piece.end());
    }
    return all;
  }
  void expect(bool right, const std::string& what) {
    if (!right) wrong_ += what + (async_ ? " (async); " : "; ");
  }

  Comm& dist_;
  const PieceOf piece_of_;
  const bool async_;
  std::string wrong_;
};

TEST_CASE_TEMPLATE("pieces of any size arrive, from every root, in place and elsewhere", T, float,
                   std::int64_t, BFloat16) {
  for (const Shares& shares : kShares) {
    if (!wants_row(shares.name)) continue;
    for (int p : world_sizes()) {
      for (const bool blocking : {false, true}) {
        if (blocking && !kMayBlock) continue;
        RunOptions options = world(p);
        options.blocking_calls = blocking;
        const auto run = run_ranks(options, [&](Comm& dist) {
          return Walk<T>(dist, shares.of, false).wrong() + Walk<T>(dist, shares.of, true).wrong();
        });
        const std::string name = shares.name;
        CAPTURE(name);
        CAPTURE(p);
        CAPTURE(blocking);
        for (const std::string& wrong : run.results) CHECK(wrong == "");
      }
    }
  }
}

TEST_CASE("reduce_scatter and all_gather make an all_reduce of any number of elements") {
  for (int p : world_sizes()) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      std::string wrong;
      for (const std::int64_t count : {0, 1, 2, 7, 41, 9'001}) {
        for (const bool in_place : {false, true}) {
          Tensor tensor = from_host(inputs<float>(ReduceOp::SUM, dist.rank(), count));
          const Slice part = chunk(tensor, dist.rank(), dist.world_size());
          Tensor other = zeros(part.size());
          const Slice piece = in_place ? part : Slice(other);
          dist.reduce_scatter(tensor, piece);
          in_place ? dist.all_gather(piece, tensor)
                   : dist.wait(dist.all_gather_async(piece, tensor));
          if (!same(to_host(tensor), reductions<float>(ReduceOp::SUM, dist.world_size(), 0, count)))
            wrong += std::to_string(count) + "; ";
        }
      }
      return wrong;
    });
    CAPTURE(p);
    for (const std::string& wrong : run.results) CHECK(wrong == "");
  }
}

}  // namespace
}  // namespace rankbox::testing
