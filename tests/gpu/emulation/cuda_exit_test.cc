// A process ends even if its streams wait forever. (Otherwise the test exceeds its time limit.)
#include <chrono>
#include <cstdio>
#include <thread>

#include <cuda_runtime_api.h>

#include "tests/gpu/emulation/cuda_control.h"

int main() {
  namespace emulation = rankbox::gpu::emulation;
  cudaStream_t blocked = nullptr;
  cudaStream_t waiting = nullptr;
  cudaStream_t destroyed = nullptr;
  cudaEvent_t never = nullptr;
  if (cudaStreamCreateWithFlags(&blocked, cudaStreamNonBlocking) != cudaSuccess) return 1;
  cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&destroyed, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&never, cudaEventDisableTiming);
  const auto block = [] {
    while (!emulation::exiting()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  emulation::enqueue(blocked, block);
  emulation::enqueue(destroyed, block);
  cudaStreamDestroy(destroyed);
  cudaEventRecord(never, blocked);
  cudaStreamWaitEvent(waiting, never, 0);
  if (cudaStreamQuery(waiting) != cudaErrorNotReady) return 2;
  std::puts("ending with streams that wait");
  return 0;
}
