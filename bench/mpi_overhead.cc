// The overhead of Comm over MPI, beside the same algorithm in plain MPI. Both run in one program
// and alternate block by block, so that a noisy moment affects both.
//
//   mpirun -n 2 mpi_overhead                     all cases, as a table
//   mpirun -n 2 mpi_overhead --json FILE         the same, and every figure as JSON
//   mpirun -n 2 mpi_overhead pingpong|sendrecv|ring BYTES    seconds of Comm, of plain MPI with the
//                                                same synchronous sends, and of MPI_Send
//
// The plain programs use MPI_Ssend or MPI_Issend, the rendezvous that Comm promises. MPI_Send may
// buffer, which is another promise: its time is for information.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>

#include "bench/measure.h"
#include "collectives/allreduce_ring.h"
#include "collectives/topology.h"
#include "comm/run_ranks.h"
#include "files/output_file.h"

namespace rankbox::bench {
namespace {

constexpr int kRounds = 41;
constexpr int kTag = 0;

using Program = std::function<void()>;

double max_over_ranks(double mine) {
  double largest = 0;
  MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

/// Returns the median seconds of each program's call, from `rounds` rounds in which every program
/// has one block of about 5 ms.
std::vector<double> measure(const std::vector<Program>& programs) {
  const auto time_block = [](const Program& program, int calls) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = now();
    for (int call = 0; call < calls; ++call) program();
    return max_over_ranks(now() - begin);
  };
  std::vector<int> calls(programs.size(), 1);
  for (std::size_t i = 0; i < programs.size(); ++i) {  // and to warm up
    while (time_block(programs[i], calls[i]) < kBlockSeconds) calls[i] *= 2;
  }
  std::vector<std::vector<double>> samples(programs.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t k = 0; k < programs.size(); ++k) {
      // Each program is first, second and last in turn.
      const std::size_t i = (k + static_cast<std::size_t>(round)) % programs.size();
      samples[i].push_back(time_block(programs[i], calls[i]) / calls[i]);
    }
  }
  std::vector<double> medians;
  for (const auto& of_program : samples) medians.push_back(median(of_program));
  return medians;
}

// ---- The programs: Comm's, with synchronous sends, and with MPI_Send ---------------------------

/// There and back; one message is half of it.
std::vector<Program> pingpong(Comm& dist, Tensor& tensor) {
  const int partner = 1 - dist.rank();
  const bool first = dist.rank() == 0;
  const auto bytes = static_cast<int>(tensor.bytes());
  float* const data = tensor.data();
  const auto plain = [=](auto send) {
    return [=] {
      if (first) send(data, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD);
      MPI_Recv(data, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (!first) send(data, bytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD);
    };
  };
  return {[&dist, &tensor, partner, first] {
            if (first) dist.send(tensor, partner);
            dist.recv(tensor, partner);
            if (!first) dist.send(tensor, partner);
          },
          plain(MPI_Ssend), plain(MPI_Send)};
}

/// MPI_Sendrecv with the given kind of send.
template <class Isend>
void plain_sendrecv(Isend isend, const float* out, int out_count, int dst, float* in, int in_count,
                    int src) {
  MPI_Request both[2];
  MPI_Irecv(in, in_count, MPI_FLOAT, src, kTag, MPI_COMM_WORLD, &both[0]);
  isend(out, out_count, MPI_FLOAT, dst, kTag, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}

std::vector<Program> sendrecv(Comm& dist, Tensor& out, Tensor& in) {
  const int next = next_rank(dist.rank(), dist.world_size());
  const int prev = prev_rank(dist.rank(), dist.world_size());
  const auto count = static_cast<int>(out.size());
  const auto plain = [&, next, prev, count](auto isend) {
    return
        [=, &out, &in] { plain_sendrecv(isend, out.data(), count, next, in.data(), count, prev); };
  };
  return {[&dist, &out, &in, next, prev] { dist.sendrecv(out, next, in, prev); }, plain(MPI_Issend),
          plain(MPI_Isend)};
}

class AlignedFloats {
 public:
  explicit AlignedFloats(std::int64_t count)
      : data_(static_cast<float*>(
            ::operator new(static_cast<std::size_t>(count) * sizeof(float), kAlignment))) {}
  ~AlignedFloats() { ::operator delete(data_, kAlignment); }
  AlignedFloats(const AlignedFloats&) = delete;
  AlignedFloats& operator=(const AlignedFloats&) = delete;
  float* get() const { return data_; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  float* data_;
};

/// The course's allreduce_ring, line by line, on MPI and pointers.
template <class Isend>
void plain_ring(Isend isend, float* tensor, std::int64_t size, int rank, int world_size) {
  const int next = next_rank(rank, world_size);
  const int prev = prev_rank(rank, world_size);
  const auto begin = [&](int c) { return wrap(c, world_size) * size / world_size; };
  const auto count = [&](int c) {
    const int at = wrap(c, world_size);
    return static_cast<int>((at + 1) * size / world_size - at * size / world_size);
  };
  // Aligned like a Tensor, so that the allocator gives both sides the same memory: other memory is
  // not in the cache, and costs up to a fifth of the time at 16 MiB.
  const AlignedFloats buffer((size + world_size - 1) / world_size);
  for (int step = 0; step < world_size - 1; ++step) {
    const int leaving = rank - step;
    const int coming = rank - step - 1;
    plain_sendrecv(isend, tensor + begin(leaving), count(leaving), next, buffer.get(),
                   count(coming), prev);
    float* const into = tensor + begin(coming);
    const float* const from = buffer.get();
    for (int i = 0; i < count(coming); ++i) into[i] += from[i];
  }
  for (int step = 0; step < world_size - 1; ++step) {
    const int leaving = rank + 1 - step;
    const int coming = rank - step;
    plain_sendrecv(isend, tensor + begin(leaving), count(leaving), next, tensor + begin(coming),
                   count(coming), prev);
  }
}

std::vector<Program> ring(Comm& dist, Tensor& tensor) {
  const int rank = dist.rank();
  const int world_size = dist.world_size();
  const auto plain = [&tensor, rank, world_size](auto isend) {
    return [=, &tensor] { plain_ring(isend, tensor.data(), tensor.size(), rank, world_size); };
  };
  return {[&dist, &tensor] { allreduce_ring(dist, tensor, ReduceOp::SUM); }, plain(MPI_Issend),
          plain(MPI_Isend)};
}

// ---- The cases ----------------------------------------------------------------------------------

struct Case {
  std::string what;
  std::int64_t bytes = 0;
};

const std::vector<Case> kCases = {{"pingpong", 8},    {"sendrecv", 8},   {"pingpong", 4096},
                                  {"ring", 64 << 10}, {"ring", 1 << 20}, {"ring", 16 << 20}};

/// Seconds of Comm, of plain MPI with synchronous sends, and with others, for one message or call.
std::vector<double> measure(const Case& of) {
  const auto run = run_ranks({.world_size = launch().processes}, [&](Comm& dist) {
    Tensor tensor = zeros(of.bytes / 4);
    Tensor other = zeros(of.bytes / 4);
    if (of.what == "pingpong") {
      std::vector<double> medians = measure(pingpong(dist, tensor));
      for (double& each : medians) each /= 2;
      return medians;
    }
    return measure(of.what == "sendrecv" ? sendrecv(dist, tensor, other) : ring(dist, tensor));
  });
  return run.results.front();
}

std::string amount(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  return fmt::format("{:.2f} ms", seconds * 1e3);
}

void print_table(const std::string& json_file) {
  const bool first = launch().is_first();
  if (first) {
    fmt::print("{:<10} {:>9} {:>11} {:>11} {:>8} {:>9}  {:>11}\n", "what", "bytes", "Comm",
               "plain MPI", "ratio", "more", "(MPI_Send)");
  }
  nlohmann::json results = nlohmann::json::array();
  for (const Case& each : kCases) {
    const std::vector<double> seconds = measure(each);
    if (!first) continue;
    fmt::print("{:<10} {:>9} {:>11} {:>11} {:>8.3f} {:>9}  {:>11}\n", each.what, each.bytes,
               amount(seconds[0]), amount(seconds[1]), seconds[0] / seconds[1],
               fmt::format("{:+.3f} us", (seconds[0] - seconds[1]) * 1e6), amount(seconds[2]));
    std::fflush(stdout);
    results.push_back({{"what", each.what},
                       {"bytes", each.bytes},
                       {"comm_seconds", seconds[0]},
                       {"plain_seconds", seconds[1]},
                       {"buffered_seconds", seconds[2]},
                       {"ratio", seconds[0] / seconds[1]}});
  }
  if (!first || json_file.empty()) return;
  const nlohmann::json report = {
      {"version", 1}, {"ranks", launch().processes}, {"rounds", kRounds}, {"results", results}};
  write_file(json_file, report.dump(2) + "\n");
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what.empty() || (what == "--json" && argc == 3)) {
    if (argc == 3) check_writable("--json", argv[2]);
    print_table(argc == 3 ? argv[2] : "");
    return 0;
  }
  const bool known = what == "pingpong" || what == "sendrecv" || what == "ring";
  const std::int64_t bytes = argc == 3 ? std::atoll(argv[2]) : 0;
  const bool possible = known && bytes >= 4 && (what != "pingpong" || launch().processes == 2);
  if (!possible) {
    if (launch().is_first()) {
      fmt::print(stderr,
                 "usage: mpirun -n P mpi_overhead [--json FILE | pingpong BYTES (2 ranks) | "
                 "sendrecv BYTES | ring BYTES]\n");
    }
    return 2;
  }
  const std::vector<double> seconds = measure({what, bytes});
  if (launch().is_first()) fmt::print("{:.9e} {:.9e} {:.9e}\n", seconds[0], seconds[1], seconds[2]);
  return 0;
}

}  // namespace
}  // namespace rankbox::bench

int main(int argc, char** argv) {
  try {
    return rankbox::bench::main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "mpi_overhead: {}\n", error.what());
    return 1;
  }
}
