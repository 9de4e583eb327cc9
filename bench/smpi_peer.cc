// The independent clock: the course's algorithms as an MPI program in virtual time of SimGrid SMPI.
//
//   smpirun … smpi_peer ALGORITHM ELEMENTS SECONDS_PER_BYTE_ADDED
//
// Prints the virtual seconds from the start to the end of the last rank. Written after the
// algorithms' descriptions, not after Rankbox's code, and with MPI's calls alone: what both clocks
// agree on is no fault that they share. bench/smpi.py builds and runs this; Bazel does not.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <simgrid/s4u/Actor.hpp>
#include <smpi/smpi.h>

namespace {

using Floats = std::vector<float>;

double seconds_per_byte_added = 0;
int p = 0;  // ranks
int r = 0;  // this one

void send(const float* data, int count, int to) {
  MPI_Send(data, count, MPI_FLOAT, to, 0, MPI_COMM_WORLD);
}

void receive(float* data, int count, int from) {
  MPI_Recv(data, count, MPI_FLOAT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void exchange(const float* out, int out_count, int to, float* in, int in_count, int from) {
  MPI_Sendrecv(out, out_count, MPI_FLOAT, to, 0, in, in_count, MPI_FLOAT, from, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

void add(float* to, const float* from, int count) {
  for (int i = 0; i < count; ++i) to[i] += from[i];
  simgrid::s4u::this_actor::sleep_for(seconds_per_byte_added * sizeof(float) * count);
}

int mod(int value) { return ((value % p) + p) % p; }

/// The first element of chunk c of n elements among p.
int start(int c, int n) { return static_cast<int>(static_cast<long>(c) * n / p); }
int size_of_chunk(int c, int n) { return start(c + 1, n) - start(c, n); }

int power_below(int n) {
  int power = 1;
  while (2 * power <= n) power *= 2;
  return power;
}

void broadcast_tree(int n) {
  Floats data(n, static_cast<float>(r));
  int have = 1;
  for (; have <= r; have *= 2) {
  }
  if (r > 0) receive(data.data(), n, r - have / 2);  // `have` is the first power above r
  for (; r + have < p; have *= 2) send(data.data(), n, r + have);
}

void broadcast_ring(int n) {
  Floats data(n, 1);
  if (r > 0) receive(data.data(), n, r - 1);
  if (r < p - 1) send(data.data(), n, r + 1);
}

void reduce_tree(int n) {
  Floats data(n, 1);
  Floats other(n);
  for (int distance = 1; distance < p; distance *= 2) {
    if (r % (2 * distance) != 0) return send(data.data(), n, r - distance);
    if (r + distance >= p) continue;
    receive(other.data(), n, r + distance);
    add(data.data(), other.data(), n);
  }
}

void allreduce_tree(int n) {
  reduce_tree(n);
  broadcast_tree(n);
}

/// The ranks beyond the largest power of two give their data to a partner. Returns whether this
/// rank takes part in what follows.
bool fold(Floats& data, Floats& other, int core) {
  const int n = static_cast<int>(data.size());
  if (r >= core) {
    send(data.data(), n, r - core);
    receive(data.data(), n, r - core);
    return false;
  }
  if (r + core < p) {
    receive(other.data(), n, r + core);
    add(data.data(), other.data(), n);
  }
  return true;
}

void unfold(const Floats& data, int core) {
  if (r + core < p) send(data.data(), static_cast<int>(data.size()), r + core);
}

void allreduce_butterfly(int n) {
  const int core = power_below(p);
  Floats data(n, 1);
  Floats other(n);
  if (!fold(data, other, core)) return;
  for (int distance = 1; distance < core; distance *= 2) {
    exchange(data.data(), n, r ^ distance, other.data(), n, r ^ distance);
    add(data.data(), other.data(), n);
  }
  unfold(data, core);
}

void allreduce_rabenseifner(int n) {
  const int core = power_below(p);
  Floats data(n, 1);
  Floats other(n);
  if (!fold(data, other, core)) return;
  struct Range {
    int begin, middle, end;
  };
  std::vector<Range> ranges;
  int begin = 0;
  int end = n;
  for (int distance = 1; distance < core; distance *= 2) {
    const Range range = {begin, begin + (end - begin) / 2, end};
    ranges.push_back(range);
    const bool low = (r & distance) == 0;
    const int out = low ? range.middle : begin;
    const int out_count = low ? end - range.middle : range.middle - begin;
    (low ? end : begin) = range.middle;
    exchange(&data[out], out_count, r ^ distance, other.data(), end - begin, r ^ distance);
    add(&data[begin], other.data(), end - begin);
  }
  for (int distance = core / 2; distance >= 1; distance /= 2) {
    const Range range = ranges.back();
    ranges.pop_back();
    const bool low = (r & distance) == 0;
    const int in = low ? range.middle : range.begin;
    const int in_count = low ? range.end - range.middle : range.middle - range.begin;
    exchange(&data[begin], end - begin, r ^ distance, &data[in], in_count, r ^ distance);
    begin = range.begin;
    end = range.end;
  }
  unfold(data, core);
}

/// p-1 steps around the ring; in step s chunk first-s leaves, and the one before it comes in.
void turn(Floats& data, int first, bool adds) {
  const int n = static_cast<int>(data.size());
  Floats other(n / p + 1);
  for (int s = 0; s < p - 1; ++s) {
    const int out = mod(first - s);
    const int in = mod(first - s - 1);
    float* const place = data.data() + start(in, n);
    exchange(data.data() + start(out, n), size_of_chunk(out, n), mod(r + 1),
             adds ? other.data() : place, size_of_chunk(in, n), mod(r - 1));
    if (adds) add(place, other.data(), size_of_chunk(in, n));
  }
}

void allreduce_ring(int n) {
  Floats data(n, 1);
  turn(data, r, true);
  turn(data, r + 1, false);
}

void reduce_scatter_ring(int n) {
  Floats data(n, 1);
  turn(data, r - 1, true);
}

/// For gather, scatter and all-gather, n counts all parts together.
void allgather_ring(int n) {
  Floats data(n / p * p, 1);
  turn(data, r, false);
}

void allgather_bruck(int n) {
  const int part = n / p;
  Floats data(part * p, 1);
  for (int have = 1; have < p; have *= 2) {
    const int count = std::min(have, p - have) * part;
    exchange(data.data(), count, mod(r - have), &data[have * part], count, mod(r + have));
  }
}

/// The ranks that a rank serves in a tree of p: those from it to the next multiple of its power.
int subtree() { return std::min(r == 0 ? p : r & -r, p - r); }

void gather_tree(int n) {
  const int part = n / p;
  Floats data(part * subtree(), 1);
  for (int held = 1; held < subtree(); held *= 2) {
    const int more = std::min(held, subtree() - held);
    receive(&data[held * part], more * part, r + held);
  }
  if (r > 0) send(data.data(), static_cast<int>(data.size()), r - (r & -r));
}

void scatter_tree(int n) {
  const int part = n / p;
  Floats data(part * subtree(), 1);
  if (r > 0) receive(data.data(), static_cast<int>(data.size()), r - (r & -r));
  for (int held = subtree(); held > 1;) {
    const int kept = power_below(held - 1);
    send(&data[kept * part], (held - kept) * part, r + kept);
    held = kept;
  }
}

void alltoall_pairwise(int n) {
  Floats in(n, 1);
  Floats out(n);
  for (int s = 1; s < p; ++s) {
    const int to = mod(r + s);
    const int from = mod(r - s);
    // Every rank keeps the same place for a chunk: the sizes of both sides are those of the data.
    exchange(in.data() + start(to, n), size_of_chunk(to, n), to, out.data() + start(from, n),
             size_of_chunk(r, n), from);
  }
}

const std::map<std::string, void (*)(int)> kAlgorithms = {
    {"broadcast_tree", broadcast_tree},
    {"broadcast_ring", broadcast_ring},
    {"reduce_tree", reduce_tree},
    {"allreduce_tree", allreduce_tree},
    {"allreduce_ring", allreduce_ring},
    {"allreduce_butterfly", allreduce_butterfly},
    {"allreduce_rabenseifner", allreduce_rabenseifner},
    {"gather_tree", gather_tree},
    {"scatter_tree", scatter_tree},
    {"allgather_ring", allgather_ring},
    {"allgather_bruck", allgather_bruck},
    {"reduce_scatter_ring", reduce_scatter_ring},
    {"alltoall_pairwise", alltoall_pairwise},
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &p);
  MPI_Comm_rank(MPI_COMM_WORLD, &r);
  const auto algorithm = kAlgorithms.find(argc == 4 ? argv[1] : "");
  if (algorithm == kAlgorithms.end()) {
    std::fprintf(stderr, "usage: smpi_peer ALGORITHM ELEMENTS SECONDS_PER_BYTE_ADDED\n");
    return 2;
  }
  seconds_per_byte_added = std::atof(argv[3]);
  const double begin = MPI_Wtime();  // the same on all ranks: nothing was sent yet
  algorithm->second(std::atoi(argv[2]));
  const double mine = MPI_Wtime() - begin;
  double last = 0;
  MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (r == 0) std::printf("%.12e\n", last);
  MPI_Finalize();
  return 0;
}
