// The peer: the same operations on MPI processes. Prints one number, in seconds.
//
//   mpirun -np 2 mpi_peer pingpong BYTES       one way, between ranks 0 and 1
//   mpirun -np P mpi_peer allreduce COUNT      MPI_Allreduce, MAX, COUNT floats; the faster of
//                                              in place and out of place

// The C interface alone: the C++ one was removed from MPI in 2012.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <mpi.h>

#include "bench/measure.h"

namespace {

using rankbox::bench::seconds_per_call;

int my_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

double max_over_ranks(double mine) {
  double largest = 0;
  MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

double pingpong(int bytes) {
  std::vector<char> buffer(static_cast<std::size_t>(bytes), 'x');
  const int rank = my_rank();
  const int partner = 1 - rank;
  const double there_and_back = seconds_per_call(
      [&] {
        if (rank == 0) {
          MPI_Send(buffer.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
          MPI_Recv(buffer.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
          MPI_Recv(buffer.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          MPI_Send(buffer.data(), bytes, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
        }
      },
      max_over_ranks);
  return there_and_back / 2;
}

double allreduce(int count) {
  std::vector<float> tensor(static_cast<std::size_t>(count), static_cast<float>(my_rank()));
  std::vector<float> result(tensor.size());
  const double out_of_place = seconds_per_call(
      [&] {
        MPI_Allreduce(tensor.data(), result.data(), count, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
      },
      max_over_ranks);
  const double in_place = seconds_per_call(
      [&] {
        MPI_Allreduce(MPI_IN_PLACE, tensor.data(), count, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
      },
      max_over_ranks);
  return std::min(in_place, out_of_place);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int world_size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  const std::string what = argc == 3 ? argv[1] : "";
  const int amount = argc == 3 ? std::atoi(argv[2]) : 0;
  double seconds = -1;
  if (what == "pingpong" && amount > 0 && world_size == 2) {
    seconds = pingpong(amount);
  } else if (what == "allreduce" && amount > 0) {
    seconds = allreduce(amount);
  }
  if (my_rank() == 0) {
    if (seconds < 0) {
      std::fprintf(stderr, "usage: mpi_peer pingpong BYTES (2 ranks) | allreduce COUNT\n");
    } else {
      std::printf("%.9e\n", seconds);
    }
  }
  MPI_Finalize();
  return seconds < 0 ? 2 : 0;
}
