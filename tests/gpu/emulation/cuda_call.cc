#include "tests/gpu/emulation/cuda_call.h"

#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tests/gpu/emulation/cuda_control.h"

namespace rankbox::gpu::emulation {
namespace {

struct Order {
  cudaError_t error;
  int skip;
};

// Never destroyed: streams may still call it while the process ends.
struct Calls {
  std::mutex mutex;
  std::map<std::string, std::int64_t> count;
  std::map<std::string, Order> to_fail;
  std::map<int, cudaError_t> broken;
  int devices = -1;  // -1: not determined yet
};

Calls& calls() {
  static auto* const all = new Calls;
  return *all;
}

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

}  // namespace

int& current_device() {
  thread_local int device = 0;
  return device;
}

bool& inside_host_function() {
  thread_local bool inside = false;
  return inside;
}

int device_count() {
  const std::lock_guard lock(calls().mutex);
  if (calls().devices < 0) {
    const char* const said = std::getenv("RANKBOX_EMULATED_GPUS");
    calls().devices = said == nullptr || *said == '\0' ? 1 : std::atoi(said);
  }
  return calls().devices;
}

void set_device_count(int count) {
  const std::lock_guard lock(calls().mutex);
  calls().devices = count;
}

cudaError_t health_of(int device) {
  const std::lock_guard lock(calls().mutex);
  const auto found = calls().broken.find(device);
  return found == calls().broken.end() ? cudaSuccess : found->second;
}

void break_device(int device, cudaError_t error) {
  const std::lock_guard lock(calls().mutex);
  calls().broken[device] = error;
}

bool fail_next(const char* function, cudaError_t error, int skip) {
  const std::lock_guard lock(calls().mutex);
  const bool had_one = calls().to_fail.erase(function) == 1;
  if (error != cudaSuccess) calls().to_fail.emplace(function, Order{error, skip});
  return had_one;
}

std::int64_t calls_of(const char* function) {
  const std::lock_guard lock(calls().mutex);
  const auto found = calls().count.find(function);
  return found == calls().count.end() ? 0 : found->second;
}

cudaError_t begin_call(const char* function, int device) {
  if (inside_host_function()) return cudaErrorNotPermitted;
  const int devices = device_count();
  const std::lock_guard lock(calls().mutex);
  ++calls().count[function];
  if (const auto ordered = calls().to_fail.find(function); ordered != calls().to_fail.end()) {
    if (ordered->second.skip-- == 0) {
      const cudaError_t error = ordered->second.error;
      calls().to_fail.erase(ordered);
      return error;
    }
  }
  if (devices == 0) return cudaErrorNoDevice;
  const auto broken = calls().broken.find(device);
  return broken == calls().broken.end() ? cudaSuccess : broken->second;
}

cudaError_t end_call(cudaError_t result) {
  if (result != cudaSuccess) last_error() = result;
  return result;
}

cudaError_t take_last_error() { return std::exchange(last_error(), cudaSuccess); }
cudaError_t peek_last_error() { return last_error(); }

}  // namespace rankbox::gpu::emulation

extern "C" {

cudaError_t cudaGetLastError(void) { return rankbox::gpu::emulation::take_last_error(); }
cudaError_t cudaPeekAtLastError(void) { return rankbox::gpu::emulation::peek_last_error(); }

}  // extern "C"
