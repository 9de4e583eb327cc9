// The native collectives on NCCL, real or emulated, on all GPUs, up to eight.
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "gpu/kernels/kernels.h"
#include "tests/gpu/nccl_test_world.h"
#include "tests/support/run_tests.h"

namespace rankbox::gpu {
namespace {

// Empty, one, fewer than ranks, not divisible by most, divisible by many, larger.
constexpr int kCounts[] = {0, 1, 3, 13, 840, 1001};

template <class T>
using Array = DeviceArray<T>;

/// Small enough that every reduction of eight is exact in every type.
template <class T>
T number(int rank, int i) {
  return static_cast<T>((3 * rank + i) % 4 - 1);
}

template <class T>
std::vector<T> numbers(int rank, int count) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) values.push_back(number<T>(rank, i));
  return values;
}

template <class T>
std::vector<T> nothing(int count) {
  return std::vector<T>(static_cast<std::size_t>(count), T(99));
}

template <class T>
std::vector<T> reduced(int ranks, int count, ReduceOp op) {
  std::vector<T> result = numbers<T>(0, count);
  for (int rank = 1; rank < ranks; ++rank) {
    for (int i = 0; i < count; ++i) {
      T& into = result[static_cast<std::size_t>(i)];
      const T value = number<T>(rank, i);
      switch (op) {
        case ReduceOp::SUM:
        case ReduceOp::AVG:
          into = static_cast<T>(into + value);
          break;
        case ReduceOp::PRODUCT:
          into = static_cast<T>(into * value);
          break;
        case ReduceOp::MAX:
          into = into > value ? into : value;
          break;
        case ReduceOp::MIN:
          into = into < value ? into : value;
          break;
      }
    }
  }
  if (op == ReduceOp::AVG) {
    for (T& value : result) value = static_cast<T>(value / static_cast<T>(ranks));
  }
  return result;
}

/// chunk(values, i, n).
template <class T>
std::vector<T> part(const std::vector<T>& values, int i, int n) {
  const auto size = static_cast<std::int64_t>(values.size());
  return {values.begin() + i * size / n, values.begin() + (i + 1) * size / n};
}

/// Calls body(dist, mistakes) on every rank of worlds of every size.
template <class Body>
void in_all_worlds(Body body) {
  for (int size = 1; size <= std::min(device_count(), 8); ++size) {
    CAPTURE(size);
    Mistakes mistakes;
    const NcclRun run = run_on_nccl({.world_size = size, .deadline_seconds = 20},
                                    [&](Communicator& dist) { body(dist, mistakes); });
    CHECK(run.what() == "");
    CHECK(mistakes.found() == "");
  }
}

template <class T>
void check_reductions(Communicator& dist, Mistakes& mistakes) {
  const int p = dist.world_size();
  for (const ReduceOp op : kReduceOps) {
    for (const int count : kCounts) {
      const std::string what =
          std::string(name_of(op)) + " of " + std::to_string(count) + " " + name_of(dtype_of<T>());
      const std::vector<T> mine = numbers<T>(dist.rank(), count);
      const std::vector<T> expected = reduced<T>(p, count, op);
      {
        const Array<T> data(mine);
        dist.all_reduce(data, op);
        mistakes.expect_equal(data.to_host(), expected, "all_reduce " + what);
      }
      for (int dst = 0; dst < p; ++dst) {
        const Array<T> data(mine);
        dist.reduce(data, dst, op);
        mistakes.expect_equal(data.to_host(), dist.rank() == dst ? expected : mine,
                              "reduce " + what);
      }
      const std::vector<T> my_part = part(expected, dist.rank(), p);
      {
        const Array<T> data(mine);
        const Array<T> piece(nothing<T>(static_cast<int>(my_part.size())));
        dist.reduce_scatter(data, piece, op);
        mistakes.expect_equal(piece.to_host(), my_part, "reduce_scatter " + what);
      }
      {
        const Array<T> data(mine);
        const Slice piece = chunk(data, dist.rank(), p);
        dist.reduce_scatter(data, piece, op);
        mistakes.expect_equal(part(data.to_host(), dist.rank(), p), my_part,
                              "reduce_scatter in place " + what);
      }
    }
  }
}

TEST_CASE("reductions: every operation, type, size and root") {
  in_all_worlds([](Communicator& dist, Mistakes& mistakes) {
    check_reductions<float>(dist, mistakes);
    if (dist.world_size() > 3) return;  // the types cannot count more ranks
    check_reductions<double>(dist, mistakes);
    check_reductions<std::int32_t>(dist, mistakes);
    check_reductions<std::int64_t>(dist, mistakes);
    check_reductions<Float16>(dist, mistakes);
    check_reductions<BFloat16>(dist, mistakes);
  });
}

TEST_CASE("the average of 1, 2 and 3 is exactly 2: AVG divides the sum") {
  if (device_count() < 3) return testing::pass_over("fewer than 3 GPUs");
  Mistakes mistakes;
  const NcclRun run = run_on_nccl({.world_size = 3}, [&](Communicator& dist) {
    const Array<float> data({static_cast<float>(dist.rank() + 1)});
    dist.all_reduce(data, ReduceOp::AVG);
    mistakes.expect_equal(data.to_host(), {2.0f}, "average");
  });
  CHECK(run.what() == "");
  CHECK(mistakes.found() == "");
}

TEST_CASE("broadcast, gather and scatter: every root and size; all_gather and all_to_all") {
  in_all_worlds([](Communicator& dist, Mistakes& mistakes) {
    using T = float;
    const int p = dist.world_size();
    const int me = dist.rank();
    for (const int count : kCounts) {
      const std::string what = " of " + std::to_string(count);
      std::vector<T> everything;
      for (int r = 0; r < p; ++r) {
        for (const T value : numbers<T>(r, count)) everything.push_back(value);
      }
      for (int root = 0; root < p; ++root) {
        const Array<T> data(me == root ? numbers<T>(root, count) : nothing<T>(count));
        dist.broadcast(data, root);
        mistakes.expect_equal(data.to_host(), numbers<T>(root, count), "broadcast" + what);

        const Array<T> mine(numbers<T>(me, count));
        const Array<T> gathered(nothing<T>(me == root ? p * count : 0));
        dist.gather(mine, gathered, root);
        if (me == root) mistakes.expect_equal(gathered.to_host(), everything, "gather" + what);

        const Array<T> whole(me == root ? everything : std::vector<T>());
        const Array<T> piece(nothing<T>(count));
        dist.scatter(whole, piece, root);
        mistakes.expect_equal(piece.to_host(), numbers<T>(me, count), "scatter" + what);
      }
      const Array<T> mine(numbers<T>(me, count));
      const Array<T> gathered(nothing<T>(p * count));
      dist.all_gather(mine, gathered);
      mistakes.expect_equal(gathered.to_host(), everything, "all_gather" + what);

      // Rank r's chunk for rank d holds number(r, d).
      std::vector<T> in, expected;
      for (int d = 0; d < p; ++d) {
        const auto size = part(numbers<T>(0, count), d, p).size();
        in.insert(in.end(), size, static_cast<T>(10 * me + d));
      }
      const auto size = part(in, me, p).size();
      for (int s = 0; s < p; ++s)
        expected.insert(expected.end(), size, static_cast<T>(10 * s + me));
      const Array<T> input(in);
      const Array<T> output(nothing<T>(static_cast<int>(expected.size())));
      dist.all_to_all(input, output);
      mistakes.expect_equal(output.to_host(), expected, "all_to_all" + what);
    }
  });
}

TEST_CASE("gather, all_gather and scatter in place") {
  in_all_worlds([](Communicator& dist, Mistakes& mistakes) {
    const int p = dist.world_size();
    const int me = dist.rank();
    std::vector<float> everything, mine_only;
    for (int r = 0; r < p; ++r) {
      for (const float value : numbers<float>(r, 5)) {
        everything.push_back(value);
        mine_only.push_back(r == me ? value : 99);
      }
    }
    {
      const Array<float> all(mine_only);
      dist.all_gather(chunk(all, me, p), all);
      mistakes.expect_equal(all.to_host(), everything, "all_gather");
    }
    {
      const Array<float> all(mine_only);
      dist.gather(chunk(all, me, p), all, p - 1);
      mistakes.expect_equal(all.to_host(), me == p - 1 ? everything : mine_only, "gather");
    }
    {
      const Array<float> all(me == 0 ? everything : nothing<float>(5 * p));
      dist.scatter(all, chunk(all, me, p), 0);
      mistakes.expect_equal(part(all.to_host(), me, p), numbers<float>(me, 5), "scatter");
    }
  });
}

TEST_CASE("asynchronous: all at once, waited for backwards, beside messages") {
  in_all_worlds([](Communicator& dist, Mistakes& mistakes) {
    using T = float;
    const int p = dist.world_size();
    const int me = dist.rank();
    std::vector<T> everything;
    for (int r = 0; r < p; ++r) {
      for (const T value : numbers<T>(r, 6)) everything.push_back(value);
    }
    const Array<T> a(numbers<T>(me, 6)), b(numbers<T>(me, 6)), c(numbers<T>(me, 6));
    const Array<T> d(numbers<T>(me, 6)), gathered(nothing<T>(6 * p)), all(nothing<T>(6 * p));
    const Array<T> whole(everything), piece(nothing<T>(6)), chunks(numbers<T>(me, 6 * p));
    const Array<T> reduced_piece(nothing<T>(6)), swapped(nothing<T>(6 * p));
    const Array<T> empty((std::vector<T>()));
    const Array<T> out(numbers<T>(me, 9)), in(nothing<T>(9));
    std::vector<Communicator::Request> requests;
    requests.push_back(dist.all_reduce_async(a, ReduceOp::AVG));
    requests.push_back(dist.isend(out, (me + 1) % p));
    requests.push_back(dist.broadcast_async(b, 0));
    requests.push_back(dist.reduce_async(c, p - 1, ReduceOp::MAX));
    requests.push_back(dist.barrier_async());
    requests.push_back(dist.gather_async(d, gathered, 0));
    requests.push_back(dist.all_gather_async(d, all));
    requests.push_back(dist.irecv(in, (me + p - 1) % p));
    requests.push_back(dist.scatter_async(whole, piece, 0));
    requests.push_back(dist.reduce_scatter_async(chunks, reduced_piece));
    requests.push_back(dist.all_to_all_async(whole, swapped));
    requests.push_back(dist.all_reduce_async(empty));
    for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
      dist.wait(*request);
    }
    mistakes.expect_equal(a.to_host(), reduced<T>(p, 6, ReduceOp::AVG), "all_reduce");
    mistakes.expect_equal(b.to_host(), numbers<T>(0, 6), "broadcast");
    mistakes.expect_equal(
        c.to_host(), me == p - 1 ? reduced<T>(p, 6, ReduceOp::MAX) : numbers<T>(me, 6), "reduce");
    mistakes.expect_equal(gathered.to_host(), me == 0 ? everything : nothing<T>(6 * p), "gather");
    mistakes.expect_equal(all.to_host(), everything, "all_gather");
    mistakes.expect_equal(in.to_host(), numbers<T>((me + p - 1) % p, 9), "message");
    mistakes.expect_equal(piece.to_host(), numbers<T>(me, 6), "scatter");
    mistakes.expect_equal(reduced_piece.to_host(), part(reduced<T>(p, 6 * p, ReduceOp::SUM), me, p),
                          "reduce_scatter");
    std::vector<T> same;
    for (int s = 0; s < p; ++s) {
      for (const T value : part(everything, me, p)) same.push_back(value);
    }
    mistakes.expect_equal(swapped.to_host(), same, "all_to_all");
  });
}

TEST_CASE(
    "an asynchronous collective sees what was enqueued before it, and what follows the wait "
    "sees the result") {
  in_all_worlds([](Communicator& dist, Mistakes& mistakes) {
    const Array<float> data(nothing<float>(5000));
    const cudaStream_t stream = current_rank_device()->stream();
    launch_fill(Slice(data).data(), 5000, DType::kFloat32, 2.0, stream);
    const auto request = dist.all_reduce_async(data);
    dist.wait(request);
    launch_scale(Slice(data).data(), 5000, DType::kFloat32, 10.0, stream);
    mistakes.expect_equal(data.to_host(),
                          std::vector<float>(5000, static_cast<float>(20 * dist.world_size())),
                          "sum");
  });
}

TEST_CASE("a barrier waits for what the others had enqueued") {
  in_all_worlds([](Communicator& dist, Mistakes&) {
    for (int i = 0; i < 5; ++i) dist.barrier();
    const auto request = dist.barrier_async();
    dist.wait(request);
  });
}

TEST_CASE("a message that crosses a collective, in either order of the calls") {
  in_all_worlds([](Communicator& dist, Mistakes& mistakes) {
    if (dist.world_size() < 2) return;
    for (const bool message_first : {true, false}) {
      const Array<float> data(numbers<float>(dist.rank(), 50));
      const Array<float> sum(numbers<float>(dist.rank(), 50));
      Communicator::Request request;
      if (dist.rank() == 0) request = dist.isend(data, 1);
      if (dist.rank() == 1 && message_first) dist.recv(data, 0);
      dist.all_reduce(sum);
      dist.barrier();
      if (dist.rank() == 1 && !message_first) dist.recv(data, 0);
      if (dist.rank() == 0) dist.wait(request);
      if (dist.rank() == 1) mistakes.expect_equal(data.to_host(), numbers<float>(0, 50), "message");
      mistakes.expect_equal(sum.to_host(), reduced<float>(dist.world_size(), 50, ReduceOp::SUM),
                            "sum");
    }
  });
}

TEST_CASE("split: by color, ordered by key and rank, and again") {
  in_all_worlds([](Communicator& dist, Mistakes& mistakes) {
    const int p = dist.world_size();
    const int me = dist.rank();
    // Even and odd ranks, backwards.
    Communicator half = dist.split(me % 2, -me);
    const int size = (p + 1 - me % 2) / 2;
    mistakes.expect(half.world_size() == size, "size of the half");
    mistakes.expect(half.rank() == size - 1 - me / 2, "rank in the half");
    const Array<float> sum({static_cast<float>(me)});
    half.all_reduce(sum);
    float expected = 0;
    for (int r = me % 2; r < p; r += 2) expected += static_cast<float>(r);
    mistakes.expect_equal(sum.to_host(), {expected}, "sum of the half");

    // Its messages use its ranks, and are separate from the world's.
    const Array<float> out({static_cast<float>(me)});
    const Array<float> in({-1.0f}), world_in({-1.0f});
    const int next = (half.rank() + 1) % size;
    const int prev = (half.rank() + size - 1) % size;
    const auto sent = dist.isend(out, me);
    half.sendrecv(out, next, in, prev);
    dist.recv(world_in, me);
    dist.wait(sent);
    mistakes.expect_equal(in.to_host(), {static_cast<float>(me % 2 + 2 * (size - 1 - prev))},
                          "message in the half");
    mistakes.expect_equal(world_in.to_host(), {static_cast<float>(me)}, "message in the world");

    Communicator alone = half.split(half.rank());
    mistakes.expect(alone.world_size() == 1 && alone.rank() == 0, "split of a split");
    alone.all_reduce(sum);
    alone.barrier();
    half.barrier();
  });
}

TEST_CASE(
    "split: equal keys leave the order; a negative color joins none, and refuses every call") {
  in_all_worlds([](Communicator& dist, Mistakes& mistakes) {
    Communicator same = dist.split(7);
    mistakes.expect(same.rank() == dist.rank(), "order");
    Communicator rest = dist.split(dist.rank() == 0 ? -5 : 0);
    if (dist.rank() > 0) {
      mistakes.expect(rest.rank() == dist.rank() - 1, "rank");
      rest.barrier();
      return;
    }
    mistakes.expect(rest.world_size() == 0 && rest.rank() == -1, "left out");
    try {
      rest.barrier();
      mistakes.expect(false, "a barrier of none");
    } catch (const InvalidArgument& error) {
      mistakes.expect(
          std::string(error.what()).find("not part of the communicator") != std::string::npos,
          error.what());
    }
  });
}

TEST_CASE("calls may enqueue on the rank's own thread instead") {
  for (int size = 1; size <= std::min(device_count(), 4); ++size) {
    CAPTURE(size);
    Mistakes mistakes;
    const NcclRun run = run_on_nccl(
        {.world_size = size, .deadline_seconds = 20, .blocking_calls = true},
        [&](Communicator& dist) {
          const Array<float> data(numbers<float>(dist.rank(), 77));
          dist.all_reduce(data);
          mistakes.expect_equal(data.to_host(),
                                reduced<float>(dist.world_size(), 77, ReduceOp::SUM), "sum");
          Communicator half = dist.split(dist.rank() % 2);
          half.barrier();
        });
    CHECK(run.what() == "");
    CHECK(mistakes.found() == "");
  }
}

}  // namespace
}  // namespace rankbox::gpu
