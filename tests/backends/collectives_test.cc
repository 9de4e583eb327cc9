// Every native collective: with several roots, every operation, dtype and size, blocking and
// asynchronous, with and without comparison of the ranks' calls.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/backends/values.h"
#include "tests/backends/worlds.h"
#include "tests/support/run_tests.h"

namespace rankbox::testing {
namespace {

/// One rank's calls of all collectives with one count. Records mistakes.
template <class T>
class Walk {
 public:
  Walk(Comm& dist, std::int64_t count, bool async) : dist_(dist), count_(count), async_(async) {}

  void walk(const std::vector<int>& roots, const std::vector<ReduceOp>& ops) {
    for (int root : roots) {
      broadcast(root);
      gather(root);
      scatter(root);
      for (ReduceOp op : ops) reduce(root, op);
    }
    for (ReduceOp op : ops) {
      all_reduce(op);
      reduce_scatter(op);
    }
    async_ ? dist_.wait(dist_.barrier_async()) : dist_.barrier();
    all_gather();
    all_to_all();
  }
  const std::string& wrong() const { return wrong_; }

 private:
  void broadcast(int root) {
    TensorOf<T> tensor = at(root) ? mine() : full<T>(count_, static_cast<T>(-99));
    async_ ? dist_.wait(dist_.broadcast_async(tensor, root)) : dist_.broadcast(tensor, root);
    expect(same(to_host(tensor), inputs<T>(ReduceOp::SUM, root, count_)), "broadcast", root);
  }

  void reduce(int root, ReduceOp op) {
    TensorOf<T> tensor = mine(op);
    async_ ? dist_.wait(dist_.reduce_async(tensor, root, op)) : dist_.reduce(tensor, root, op);
    // On other ranks the slices are unchanged.
    expect(same(to_host(tensor),
                at(root) ? reductions<T>(op, p(), 0, count_) : inputs<T>(op, rank(), count_)),
           std::string("reduce ") + name_of(op), root);
  }

  void all_reduce(ReduceOp op) {
    TensorOf<T> tensor = mine(op);
    async_ ? dist_.wait(dist_.all_reduce_async(tensor, op)) : dist_.all_reduce(tensor, op);
    expect(same(to_host(tensor), reductions<T>(op, p(), 0, count_)),
           std::string("all_reduce ") + name_of(op));
  }

  void gather(int root) {
    const TensorOf<T> tensor = mine();
    // On other ranks this argument is ignored and unchanged; it may be empty.
    const std::int64_t ignored = async_ ? 0 : 3;
    TensorOf<T> gathered = zeros<T>(at(root) ? p() * count_ : ignored);
    async_ ? dist_.wait(dist_.gather_async(tensor, gathered, root))
           : dist_.gather(tensor, gathered, root);
    expect(same(to_host(gathered),
                at(root) ? concatenated<T>(p(), count_) : to_host(zeros<T>(ignored))),
           "gather", root);
    expect(same(to_host(tensor), inputs<T>(ReduceOp::SUM, rank(), count_)), "input of gather",
           root);
  }

  void all_gather() {
    const TensorOf<T> tensor = mine();
    TensorOf<T> gathered = zeros<T>({p(), count_});
    async_ ? dist_.wait(dist_.all_gather_async(tensor, gathered))
           : dist_.all_gather(tensor, gathered);
    expect(same(to_host(gathered), concatenated<T>(p(), count_)), "all_gather");
    expect(same(to_host(tensor), inputs<T>(ReduceOp::SUM, rank(), count_)), "input of all_gather");
  }

  void scatter(int root) {
    const std::vector<T> all = concatenated<T>(p(), count_);
    const TensorOf<T> whole = at(root) ? from_host(all) : full<T>(3, static_cast<T>(5));
    TensorOf<T> piece = zeros<T>(count_);
    async_ ? dist_.wait(dist_.scatter_async(whole, piece, root))
           : dist_.scatter(whole, piece, root);
    expect(same(to_host(piece), inputs<T>(ReduceOp::SUM, rank(), count_)), "scatter", root);
    expect(!at(root) || same(to_host(whole), all), "input of scatter", root);
  }

  void reduce_scatter(ReduceOp op) {
    const TensorOf<T> tensor = mine(op);
    TensorOf<T> piece = zeros<T>(chunk(tensor, rank(), p()).size());
    async_ ? dist_.wait(dist_.reduce_scatter_async(tensor, piece, op))
           : dist_.reduce_scatter(tensor, piece, op);
    expect(same(to_host(piece),
                reductions<T>(op, p(), rank() * count_ / p(), (rank() + 1) * count_ / p())),
           std::string("reduce_scatter ") + name_of(op));
    expect(same(to_host(tensor), inputs<T>(op, rank(), count_)), "input of reduce_scatter");
  }

  void all_to_all() {
    const TensorOf<T> tensor = mine();
    TensorOf<T> output = zeros<T>(chunk(tensor, rank(), p()).size() * p());
    async_ ? dist_.wait(dist_.all_to_all_async(tensor, output)) : dist_.all_to_all(tensor, output);
    std::vector<T> expected;
    for (int src = 0; src < p(); ++src) {
      const std::vector<T> part =
          inputs<T>(ReduceOp::SUM, src, rank() * count_ / p(), (rank() + 1) * count_ / p());
      expected.insert(expected.end(), part.begin(), part.end());
    }
    expect(same(to_host(output), expected), "all_to_all");
    expect(same(to_host(tensor), inputs<T>(ReduceOp::SUM, rank(), count_)), "input of all_to_all");
  }

  int p() const { return dist_.world_size(); }
  int rank() const { return dist_.rank(); }
  bool at(int root) const { return rank() == root; }
  TensorOf<T> mine(ReduceOp op = ReduceOp::SUM) const {
    return from_host(inputs<T>(op, rank(), count_));
  }

  void expect(bool right, const std::string& what, int root = -1) {
    if (right) return;
    wrong_ += what + (root < 0 ? "" : " root " + std::to_string(root)) +
              (async_ ? " (async)" : "") + " count " + std::to_string(count_) + "; ";
  }

  Comm& dist_;
  std::int64_t count_;
  bool async_;
  std::string wrong_;
};

/// Returns 0, 1, fewer than p, p, and more that p does not divide.
std::vector<std::int64_t> counts_around(int p) {
  std::vector<std::int64_t> counts = {0, 1, p - 1, p, p + 1, 5 * p + 1};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

template <class T>
void check_all(RunOptions options, const std::vector<std::int64_t>& counts,
               const std::vector<int>& roots,
               const std::vector<ReduceOp>& ops = {kReduceOps.begin(), kReduceOps.end()}) {
  options.trace = false;
  const auto run = run_ranks(options, [&](Comm& dist) {
    std::string wrong;
    for (std::int64_t count : counts) {
      for (bool async : {false, true}) {
        Walk<T> walk(dist, count, async);
        walk.walk(roots, ops);
        wrong += walk.wrong();
      }
    }
    return wrong;
  });
  CAPTURE(options.world_size);
  CAPTURE(options.blocking_calls);
  for (const std::string& wrong : run.results) CHECK(wrong == "");
}

/// Returns all roots, or the first, a middle one and the last.
std::vector<int> some_roots(int p) {
  if (p > 5) return {0, p / 2, p - 1};
  std::vector<int> roots(static_cast<std::size_t>(p));
  std::iota(roots.begin(), roots.end(), 0);
  return roots;
}

TEST_CASE_TEMPLATE("every native collective, from several roots, with every operation", T, float,
                   double, std::int32_t, std::int64_t, Float16, BFloat16, std::uint8_t) {
  for (int p : world_sizes()) check_all<T>(world(p), counts_around(p), some_roots(p));
}

TEST_CASE("... and with more ranks than a machine has GPUs") {
  if (launch().processes > 0 || is_over_nccl(17))
    return pass_over("ranks are processes, or have a GPU each");
  check_all<float>(world(17), counts_around(17), {8, 16}, {ReduceOp::SUM, ReduceOp::AVG});
}

TEST_CASE_TEMPLATE("... and where the calls block inside the library", T, float, std::int64_t,
                   Float16, BFloat16) {
  if (!kMayBlock) return pass_over("calls of the sandbox are the same then");
  for (int p : world_sizes()) {
    RunOptions options = world(p);
    options.blocking_calls = true;
    check_all<T>(options, counts_around(p), {p - 1});
  }
}

TEST_CASE_TEMPLATE("... and where other algorithms take over, because the data are long", T, float,
                   std::int64_t, Float16, BFloat16) {
  for (int p : world_sizes()) check_all<T>(world(p), {9'001}, {p / 2}, {ReduceOp::AVG});
}

TEST_CASE("... and where they are longer still") {
  for (int p : world_sizes()) check_all<float>(world(p), {150'001}, {p - 1}, {ReduceOp::MAX});
}

TEST_CASE("of bools SUM and MAX are or, PRODUCT and MIN are and; they have no average") {
  for (int p : world_sizes()) {
    for (const std::int64_t repeats : {1, 40}) {  // short, and long
      const auto run = run_ranks(world(p), [&](Comm& dist) {
        // On no rank, on rank 0, on all but rank 0, on all.
        const bool first = dist.rank() == 0;
        std::string wrong;
        for (const ReduceOp op : {ReduceOp::SUM, ReduceOp::MAX, ReduceOp::PRODUCT, ReduceOp::MIN}) {
          TensorOf<bool> bools = full<bool>(4 * repeats, false);
          for (std::int64_t i = 0; i < repeats; ++i)
            copy(Slice(bools).sub(4 * i, 4 * i + 4), from_host({false, first, !first, true}));
          TensorOf<bool> added = clone(bools);
          dist.all_reduce(bools, op);
          accumulate(added, bools, op);
          const bool any = op == ReduceOp::SUM || op == ReduceOp::MAX;
          const bool alone = dist.world_size() == 1;
          const std::vector<bool> once = {false, any || alone, any && !alone, true};
          std::vector<bool> expected;
          for (std::int64_t i = 0; i < repeats; ++i)
            expected.insert(expected.end(), once.begin(), once.end());
          if (to_host(bools) != expected) wrong += std::string(name_of(op)) + "; ";
          for (std::size_t i = 0; i < expected.size(); ++i) {
            const bool mine = i % 4 == 3 || (i % 4 == 1 && first) || (i % 4 == 2 && !first);
            const bool both = any ? mine || expected[i] : mine && expected[i];
            if (to_host(added)[i] != both) wrong += std::string("accumulate ") + name_of(op) + "; ";
          }
        }
        try {
          TensorOf<bool> bools = full<bool>(2, true);
          dist.all_reduce(bools, ReduceOp::AVG);
          wrong += "AVG; ";
        } catch (const InvalidArgument&) {
        }
        return wrong;
      });
      CAPTURE(p);
      for (const std::string& wrong : run.results) CHECK(wrong == "");
    }
  }
}

TEST_CASE("integers are averaged towards zero") {
  for (int p : world_sizes(2)) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      const int extra = dist.rank() == 0 ? 1 : 0;
      TensorOf<std::int32_t> tensor = from_host({3 + extra, -3 - extra});
      dist.all_reduce(tensor, ReduceOp::AVG);
      return to_host(tensor);
    });
    for (const auto& result : run.results) CHECK(result == std::vector<std::int32_t>{3, -3});
  }
}

TEST_CASE_TEMPLATE("integers are reduced exactly, and wrap around on overflow", T, std::int32_t,
                   std::int64_t) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr T kOdd = std::numeric_limits<T>::max() / 4 + 2;
  for (int p : world_sizes()) {
    Unsigned sum = 0;
    Unsigned product = 1;
    for (int rank = 0; rank < p; ++rank) {
      sum += static_cast<Unsigned>(kOdd);
      product *= static_cast<Unsigned>(kOdd);
    }
    const std::pair<ReduceOp, T> rows[] = {
        {ReduceOp::SUM, static_cast<T>(sum)},
        {ReduceOp::PRODUCT, static_cast<T>(product)},
        {ReduceOp::AVG, static_cast<T>(static_cast<T>(sum) / static_cast<T>(p))}};
    for (const auto& [op, expected] : rows) {
      for (const std::int64_t count : {1, 1001, 70'001}) {
        const auto run = run_ranks(world(p), [&, op = op, expected = expected](Comm& dist) {
          TensorOf<T> tensor = full<T>(count, kOdd);
          dist.all_reduce(tensor, op);
          const std::vector<T> host = to_host(tensor);
          return std::count(host.begin(), host.end(), expected);
        });
        const char* const name = name_of(op);
        CAPTURE(p);
        CAPTURE(name);
        for (std::int64_t right : run.results) CHECK(right == count);
      }
    }
  }
}

TEST_CASE("the slice of a larger tensor is reduced, and its neighbours stay as they are") {
  for (int p : world_sizes()) {
    const auto run = run_ranks(world(p), [](Comm& dist) {
      Tensor tensor = full(90, static_cast<float>(dist.rank()));
      dist.all_reduce(chunk(tensor, 1, 3), ReduceOp::MAX);
      return to_host(tensor);
    });
    for (std::size_t rank = 0; rank < run.results.size(); ++rank) {
      for (std::size_t i = 0; i < 90; ++i) {
        const bool reduced = i >= 30 && i < 60;
        CHECK(run.results[rank][i] == static_cast<float>(reduced ? p - 1 : static_cast<int>(rank)));
      }
    }
  }
}

}  // namespace
}  // namespace rankbox::testing
