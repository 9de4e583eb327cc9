#include "cli/perf/measure.h"

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "cli/child.h"

namespace rankbox::perf {
namespace {

double now() {
  using Clock = std::chrono::steady_clock;
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

void call(Comm& dist, const Job& job, cli::Buffers& buffers) {
  cli::InterruptGuard::check();
  job.algorithm.call(dist, buffers, job.settings);
}

/// Every rank is done with all there was.
void meet(Comm& dist) {
  dist.synchronize();
  dist.barrier();
  dist.synchronize();
}

std::int64_t count_wrong(Comm& dist, const Job& job) {
  const Row& row = job.row;
  cli::Buffers buffers = cli::make_buffers(row.collective, dist.rank(), row.world_size,
                                           row.elements, 0, job.settings.root);
  cli::fill_input(row.collective, buffers, dist.rank(), row.op);
  meet(dist);
  call(dist, job, buffers);
  dist.synchronize();
  auto wrong = from_host({cli::count_wrong(row.collective, buffers, dist.rank(), row.world_size,
                                           row.elements, row.op, job.settings.root)});
  dist.all_reduce(wrong, ReduceOp::SUM);
  return to_host(wrong).front();
}

/// One number of all ranks' numbers.
double agree(Comm& dist, double mine, Average average) {
  TensorOf<double> agreed = full<double>({1}, mine);
  switch (average) {
    case Average::kRank0:
      dist.broadcast(agreed, 0);
      break;
    case Average::kMean:
      dist.all_reduce(agreed, ReduceOp::SUM);
      break;
    case Average::kMin:
      dist.all_reduce(agreed, ReduceOp::MIN);
      break;
    case Average::kMax:
      dist.all_reduce(agreed, ReduceOp::MAX);
      break;
  }
  const double sum = to_host(agreed).front();
  return average == Average::kMean ? sum / dist.world_size() : sum;
}

double time_back_to_back(Comm& dist, const Job& job, cli::Buffers& buffers, const Plan& plan) {
  const int calls = plan.iterations * plan.aggregated;
  meet(dist);
  const double begin = now();
  for (int i = 0; i < calls; ++i) call(dist, job, buffers);
  dist.synchronize();
  return agree(dist, (now() - begin) / calls, plan.average);
}

double time_alone(Comm& dist, const Job& job, cli::Buffers& buffers, const Plan& plan) {
  std::vector<double> mine;
  for (int i = 0; i < plan.iterations; ++i) {
    meet(dist);
    const double begin = now();
    call(dist, job, buffers);
    dist.synchronize();
    mine.push_back(now() - begin);
  }
  TensorOf<double> slowest = from_host(mine);
  dist.all_reduce(slowest, ReduceOp::MAX);
  std::vector<double> samples = to_host(slowest);
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace

Row measure(Comm& dist, const Job& job, const Plan& plan) {
  Row row = job.row;
  // 1. Check. Its buffers are gone before the others come.
  if (plan.checks > 0) {
    std::int64_t wrong = 0;
    for (int i = 0; i < plan.checks; ++i) wrong += count_wrong(dist, job);
    row.wrong = wrong;
  }

  // 2. Warm up. Ones stay ones under PRODUCT, MAX, MIN and AVG; zeros under SUM: no infinities
  //    however often it runs.
  const float value = row.op == ReduceOp::SUM ? 0.0f : 1.0f;
  cli::Buffers buffers = cli::make_buffers(row.collective, dist.rank(), row.world_size,
                                           row.elements, value, job.settings.root);
  for (int i = 0; i < plan.warmup; ++i) call(dist, job, buffers);

  // 3. Measure.
  row.seconds = time_back_to_back(dist, job, buffers, plan);
  row.latency_seconds = time_alone(dist, job, buffers, plan);
  return row;
}

}  // namespace rankbox::perf
