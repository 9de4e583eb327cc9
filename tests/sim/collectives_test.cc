// The native collectives: right values for every world size, count, root, operation and dtype.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "comm/run_ranks.h"
#include "tests/sim/collective_inputs.h"
#include "tests/sim/observe.h"

namespace rankbox::testing {
namespace {

const std::vector<ReduceOp> kOps(kReduceOps.begin(), kReduceOps.end());

/// Runs all collectives on one rank. Records errors in `wrong`.
template <class T>
class Walk {
 public:
  Walk(Comm& dist, std::int64_t count, bool async) : dist_(dist), count_(count), async_(async) {}

  const std::string& wrong() const { return wrong_; }

  void broadcast(int root) {
    TensorOf<T> tensor = dist_.rank() == root ? mine() : full<T>(count_, T{-99});
    async_ ? dist_.wait(dist_.broadcast_async(tensor, root)) : dist_.broadcast(tensor, root);
    expect(to_host(tensor) == inputs<T>(ReduceOp::SUM, root, count_), "broadcast", root);
  }

  void reduce(int root, ReduceOp op) {
    TensorOf<T> tensor = mine(op);
    async_ ? dist_.wait(dist_.reduce_async(tensor, root, op)) : dist_.reduce(tensor, root, op);
    expect(to_host(tensor) == (dist_.rank() == root ? reductions<T>(op, p(), 0, count_)
                                                    : inputs<T>(op, dist_.rank(), count_)),
           std::string("reduce ") + name_of(op), root);
  }

  void all_reduce(ReduceOp op) {
    TensorOf<T> tensor = mine(op);
    async_ ? dist_.wait(dist_.all_reduce_async(tensor, op)) : dist_.all_reduce(tensor, op);
    expect(to_host(tensor) == reductions<T>(op, p(), 0, count_),
           std::string("all_reduce ") + name_of(op), -1);
  }

  void gather(int root) {
    const TensorOf<T> tensor = mine();
    TensorOf<T> gathered = dist_.rank() == root ? zeros<T>(count_ * p()) : TensorOf<T>();
    async_ ? dist_.wait(dist_.gather_async(tensor, gathered, root))
           : dist_.gather(tensor, gathered, root);
    if (dist_.rank() == root)
      expect(to_host(gathered) == concatenated<T>(p(), count_), "gather", root);
    expect(to_host(tensor) == inputs<T>(ReduceOp::SUM, dist_.rank(), count_), "input of gather",
           root);
  }

  void all_gather() {
    const TensorOf<T> tensor = mine();
    TensorOf<T> gathered = zeros<T>({p(), count_});
    async_ ? dist_.wait(dist_.all_gather_async(tensor, gathered))
           : dist_.all_gather(tensor, gathered);
    expect(to_host(gathered) == concatenated<T>(p(), count_), "all_gather", -1);
    expect(to_host(tensor) == inputs<T>(ReduceOp::SUM, dist_.rank(), count_), "input of all_gather",
           -1);
  }

  void scatter(int root) {
    // On ranks other than the root the whole is ignored, whatever its content.
    const TensorOf<T> whole =
        dist_.rank() == root ? from_host(concatenated<T>(p(), count_)) : full<T>(3, T{5});
    TensorOf<T> piece = zeros<T>(count_);
    async_ ? dist_.wait(dist_.scatter_async(whole, piece, root))
           : dist_.scatter(whole, piece, root);
    expect(to_host(piece) == inputs<T>(ReduceOp::SUM, dist_.rank(), count_), "scatter", root);
    if (dist_.rank() == root)
      expect(to_host(whole) == concatenated<T>(p(), count_), "input of scatter", root);
  }

  void reduce_scatter(ReduceOp op) {
    const TensorOf<T> tensor = mine(op);
    TensorOf<T> piece = zeros<T>(chunk(tensor, dist_.rank(), p()).size());
    async_ ? dist_.wait(dist_.reduce_scatter_async(tensor, piece, op))
           : dist_.reduce_scatter(tensor, piece, op);
    const std::int64_t begin = dist_.rank() * count_ / p();
    const std::int64_t end = (dist_.rank() + 1) * count_ / p();
    expect(to_host(piece) == reductions<T>(op, p(), begin, end),
           std::string("reduce_scatter ") + name_of(op), -1);
    expect(to_host(tensor) == inputs<T>(op, dist_.rank(), count_), "input of reduce_scatter", -1);
  }

  void all_to_all() {
    const TensorOf<T> tensor = mine();
    TensorOf<T> output = zeros<T>(chunk(tensor, dist_.rank(), p()).size() * p());
    async_ ? dist_.wait(dist_.all_to_all_async(tensor, output)) : dist_.all_to_all(tensor, output);
    std::vector<T> expected;
    for (int src = 0; src < p(); ++src) {
      for (std::int64_t i = dist_.rank() * count_ / p(); i < (dist_.rank() + 1) * count_ / p();
           ++i) {
        expected.push_back(input<T>(ReduceOp::SUM, src, i));
      }
    }
    expect(to_host(output) == expected, "all_to_all", -1);
    expect(to_host(tensor) == inputs<T>(ReduceOp::SUM, dist_.rank(), count_), "input of all_to_all",
           -1);
  }

  void barrier() { async_ ? dist_.wait(dist_.barrier_async()) : dist_.barrier(); }

 private:
  int p() const { return dist_.world_size(); }
  TensorOf<T> mine(ReduceOp op = ReduceOp::SUM) const {
    return from_host(inputs<T>(op, dist_.rank(), count_));
  }

  void expect(bool right, const std::string& what, int root) {
    if (right) return;
    wrong_ += what + (root < 0 ? "" : " root " + std::to_string(root)) +
              (async_ ? " (async)" : "") + "; ";
  }

  Comm& dist_;
  std::int64_t count_;
  bool async_;
  std::string wrong_;
};

template <class T>
void check_all(int world_size, const std::vector<std::int64_t>& counts,
               const std::vector<int>& roots, const std::vector<ReduceOp>& ops) {
  const auto run = run_ranks({.world_size = world_size, .trace = false}, [&](Comm& dist) {
    std::string wrong;
    for (std::int64_t count : counts) {
      for (bool async : {false, true}) {
        Walk<T> walk(dist, count, async);
        for (int root : roots) {
          walk.broadcast(root);
          walk.gather(root);
          walk.scatter(root);
          for (ReduceOp op : ops) walk.reduce(root, op);
        }
        for (ReduceOp op : ops) {
          walk.all_reduce(op);
          walk.reduce_scatter(op);
        }
        walk.barrier();
        walk.all_gather();
        walk.all_to_all();
        if (!walk.wrong().empty()) wrong += "count " + std::to_string(count) + ": " + walk.wrong();
      }
    }
    return wrong;
  });
  for (int rank = 0; rank < world_size; ++rank) {
    CAPTURE(world_size);
    CAPTURE(rank);
    CHECK(run.results[static_cast<std::size_t>(rank)] == "");
  }
}

std::vector<std::int64_t> counts_around(int world_size) {
  std::vector<std::int64_t> counts = {0, 1, 3, world_size - 1, world_size, world_size + 1, 100};
  std::sort(counts.begin(), counts.end());
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

TEST_CASE_TEMPLATE("every native collective, from every root, blocking and asynchronous", T, float,
                   double, std::int32_t, std::int64_t) {
  for (int p : {1, 2, 3, 4, 5}) {
    std::vector<int> roots;
    for (int root = 0; root < p; ++root) roots.push_back(root);
    check_all<T>(p, counts_around(p), roots, kOps);
  }
}

TEST_CASE("... and with more ranks") {
  for (int p : {7, 8, 17}) {
    check_all<float>(p, counts_around(p), {p / 2, p - 1}, {ReduceOp::SUM, ReduceOp::AVG});
  }
}

TEST_CASE_TEMPLATE("... and where they are large enough for waiting ranks to help", T, float,
                   std::int64_t) {
  check_all<T>(2, {9'001}, {1}, {ReduceOp::AVG});
  check_all<T>(5, {5'001}, {3}, {ReduceOp::MAX});
}

TEST_CASE("... and where the work is cut into many parts") {
  constexpr std::int64_t kCount = 70'000;
  for (int p : {2, 4, 5}) {
    const auto run = run_ranks({.world_size = p}, [&](Comm& dist) {
      // Every rank's elements are its number.
      const auto mine = static_cast<float>(dist.rank());
      Tensor sum = full(kCount, mine);
      Tensor sent = full(kCount, mine);
      Tensor all = full({p, kCount}, -1.0f);
      Tensor piece = full(chunk(sum, dist.rank(), p).size(), -1.0f);
      dist.reduce_scatter(sum, piece, ReduceOp::MAX);
      dist.all_gather(sum, all);
      dist.all_reduce(sum);
      dist.broadcast(sent, p - 1);
      const auto is = [](Slice slice, float value) {
        Tensor copied(slice.size());
        copy(copied, slice);
        const std::vector<float> host = to_host(copied);
        return std::count(host.begin(), host.end(), value) == slice.size();
      };
      bool right = is(sum, static_cast<float>(p * (p - 1) / 2)) &&
                   is(sent, static_cast<float>(p - 1)) && is(piece, static_cast<float>(p - 1));
      for (int rank = 0; rank < p; ++rank) {
        right = right && is(chunk(all, rank, p), static_cast<float>(rank));
      }
      return right;
    });
    CAPTURE(p);
    for (bool right : run.results) CHECK(right);
  }
}

TEST_CASE("integers are averaged towards zero") {
  const auto run = run_ranks({.world_size = 2}, [](Comm& dist) {
    TensorOf<std::int32_t> tensor =
        from_host({dist.rank() == 0 ? 3 : 4, dist.rank() == 0 ? -3 : -4});
    dist.all_reduce(tensor, ReduceOp::AVG);
    return to_host(tensor);
  });
  for (const auto& result : run.results) CHECK(result == std::vector<std::int32_t>{3, -3});
}

TEST_CASE("64-bit integers are reduced exactly where no double could") {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 60) + 1;
  const auto run = run_ranks({.world_size = 3}, [](Comm& dist) {
    TensorOf<std::int64_t> tensor = full<std::int64_t>(2, kOdd);
    dist.all_reduce(tensor);
    return to_host(tensor);
  });
  for (const auto& result : run.results) CHECK(result == std::vector<std::int64_t>(2, 3 * kOdd));
}

TEST_CASE_TEMPLATE("integers that overflow wrap around, in vectors and one by one", T, std::int32_t,
                   std::int64_t) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr int kRanks = 3;
  constexpr T kLarge = std::numeric_limits<T>::max() - 4;
  constexpr auto kBits = static_cast<Unsigned>(kLarge);
  constexpr auto kSum = static_cast<T>(kBits + kBits + kBits);
  constexpr auto kProduct = static_cast<T>(kBits * kBits * kBits);
  const std::pair<ReduceOp, T> rows[] = {
      {ReduceOp::SUM, kSum}, {ReduceOp::PRODUCT, kProduct}, {ReduceOp::AVG, kSum / kRanks}};
  for (const auto& row : rows) {
    const ReduceOp op = row.first;
    const T expected = row.second;
    for (const std::int64_t count : {1, 1001, 300'001}) {
      CAPTURE(name_of(op));
      CAPTURE(count);
      const auto run = run_ranks({.world_size = kRanks}, [&](Comm& dist) {
        TensorOf<T> tensor = full<T>(count, kLarge);
        dist.all_reduce(tensor, op);
        return to_host(tensor);
      });
      for (const auto& result : run.results)
        CHECK(result == std::vector<T>(static_cast<std::size_t>(count), expected));
    }
  }
}

TEST_CASE("reductions are made in rank order, so that every run rounds alike") {
  // 1e8 + 1 is 1e8 in float: the order of additions shows.
  for_each_schedule(10, [&](std::uint64_t seed) {
    const auto run = run_ranks({.world_size = 3, .seed = seed}, [](Comm& dist) {
      Tensor tensor = full(9000, dist.rank() == 0 ? 1e8f : dist.rank() == 1 ? 1.0f : -1e8f);
      dist.all_reduce(tensor);
      return to_host(tensor);
    });
    for (const auto& result : run.results) CHECK(result == std::vector<float>(9000, 0.0f));
  });
}

TEST_CASE("several collectives may be under way at once, and be waited for in any order") {
  for (std::int64_t count : {std::int64_t{10}, std::int64_t{30'000}}) {
    for_each_schedule(3, [&](std::uint64_t seed) {
      const auto run = run_ranks({.world_size = 5, .seed = seed}, [&](Comm& dist) {
        std::vector<Tensor> tensors;
        for (int i = 0; i < 6; ++i)
          tensors.push_back(full(count, static_cast<float>(dist.rank() + i)));
        Tensor in = zeros(count);
        const int next = next_of(dist);
        const int prev = prev_of(dist);
        std::vector<Request> requests;
        requests.push_back(dist.all_reduce_async(tensors[0]));
        requests.push_back(dist.irecv(in, prev));
        requests.push_back(dist.broadcast_async(tensors[1], 3));
        requests.push_back(dist.barrier_async());
        requests.push_back(dist.isend(tensors[5], next));
        requests.push_back(dist.all_reduce_async(tensors[2], ReduceOp::MAX));
        dist.all_reduce(tensors[3], ReduceOp::MIN);  // a blocking one does not overtake
        requests.push_back(dist.reduce_async(tensors[4], 1, ReduceOp::AVG));
        // Each rank waits in a different order.
        std::rotate(requests.begin(), requests.begin() + dist.rank(), requests.end());
        if (dist.rank() % 2 == 0) std::reverse(requests.begin(), requests.end());
        dist.wait_all(requests);
        std::vector<float> last;
        for (const Tensor& tensor : tensors) last.push_back(element(tensor, count - 1));
        last.push_back(element(in, count - 1));
        return last;
      });
      CAPTURE(count);
      for (int rank = 0; rank < 5; ++rank) {
        const auto r = static_cast<float>(rank);
        const auto prev = static_cast<float>(prev_rank(rank, 5));
        CHECK(run.results[static_cast<std::size_t>(rank)] ==
              std::vector<float>{10, 4, 6, 3, rank == 1 ? 6 : r + 4, r + 5, prev + 5});
      }
    });
  }
}

TEST_CASE("collectives in a row are not confused when some ranks run ahead") {
  for_each_schedule(6, [&](std::uint64_t seed) {
    const auto run = run_ranks({.world_size = 4, .seed = seed}, [](Comm& dist) {
      float sum = 0;
      for (int i = 0; i < 50; ++i) {
        Tensor tensor = full(3, static_cast<float>(dist.rank() == i % 4 ? i : -1));
        dist.broadcast(tensor, i % 4);
        sum += element(tensor, 2);
        if (i % 3 == 0) dist.barrier();
      }
      return sum;
    });
    CHECK(run.results == std::vector<float>(4, 49 * 50 / 2));
  });
}

}  // namespace
}  // namespace rankbox::testing
