// The other peer: gloo, as PyTorch's CPU backend uses it, ranks as threads that talk TCP over
// loopback (gloo has no transport through shared memory). Prints one number, in seconds.
//
//   gloo_peer pingpong BYTES          one way, between 2 ranks
//   gloo_peer allreduce COUNT P       gloo::allreduce, MAX, COUNT floats, P ranks
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/hash_store.h>
#include <gloo/transport/tcp/device.h>

#include "bench/measure.h"

namespace {

using rankbox::bench::seconds_per_call;
using ContextPtr = std::shared_ptr<gloo::rendezvous::Context>;

void largest_of(const ContextPtr& context, void* tensor_data, std::size_t count, bool is_double) {
  gloo::AllreduceOptions options(context);
  if (is_double) {
    options.setOutput(static_cast<double*>(tensor_data), count);
    options.setReduceFunction([](void* c, const void* a, const void* b, std::size_t n) {
      gloo::max<double>(c, a, b, n);
    });
  } else {
    options.setOutput(static_cast<float*>(tensor_data), count);
    options.setReduceFunction(
        [](void* c, const void* a, const void* b, std::size_t n) { gloo::max<float>(c, a, b, n); });
  }
  gloo::allreduce(options);
}

double allreduce(const ContextPtr& context, std::size_t count) {
  std::vector<float> tensor(count, static_cast<float>(context->rank));
  return seconds_per_call([&] { largest_of(context, tensor.data(), count, false); },
                          [&](double mine) {
                            largest_of(context, &mine, 1, true);
                            return mine;
                          });
}

double pingpong(const ContextPtr& context, std::size_t bytes) {
  std::vector<char> data(bytes, 'x');
  const auto buffer = context->createUnboundBuffer(data.data(), bytes);
  const int partner = 1 - context->rank;
  const auto send = [&] {
    buffer->send(partner, 1);
    buffer->waitSend();
  };
  const auto recv = [&] {
    buffer->recv(partner, 1);
    buffer->waitRecv();
  };
  const double there_and_back = seconds_per_call(
      [&] {
        if (context->rank == 0) {
          send();
          recv();
        } else {
          recv();
          send();
        }
      },
      [&](double mine) {
        largest_of(context, &mine, 1, true);
        return mine;
      });
  return there_and_back / 2;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc >= 3 ? argv[1] : "";
  const int amount = argc >= 3 ? std::atoi(argv[2]) : 0;
  const int world_size = what == "pingpong" ? 2 : argc == 4 ? std::atoi(argv[3]) : 0;
  if ((what != "pingpong" && what != "allreduce") || amount < 1 || world_size < 1) {
    std::fprintf(stderr, "usage: gloo_peer pingpong BYTES | allreduce COUNT P\n");
    return 2;
  }
  gloo::rendezvous::HashStore store;
  double seconds = -1;
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < world_size; ++rank) {
    ranks.emplace_back([&, rank] {
      gloo::transport::tcp::attr attr;
      attr.hostname = "127.0.0.1";
      auto device = gloo::transport::tcp::CreateDevice(attr);
      const auto context = std::make_shared<gloo::rendezvous::Context>(rank, world_size);
      context->connectFullMesh(store, device);
      const auto size = static_cast<std::size_t>(amount);
      const double mine = what == "pingpong" ? pingpong(context, size) : allreduce(context, size);
      if (rank == 0) {
        seconds = mine;
      }
    });
  }
  for (std::thread& rank : ranks) {
    rank.join();
  }
  std::printf("%.9e\n", seconds);
  return 0;
}
