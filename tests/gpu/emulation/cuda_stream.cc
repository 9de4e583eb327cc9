#include "tests/gpu/emulation/cuda_stream.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "tests/gpu/emulation/cuda_call.h"
#include "tests/gpu/emulation/cuda_control.h"

namespace rankbox::gpu::emulation {
namespace {

std::uint64_t seed_of_environment() {
  const char* const said = std::getenv("RANKBOX_EMULATED_DELAYS");
  return said == nullptr ? 0 : std::strtoull(said, nullptr, 10);
}

std::atomic<std::uint64_t>& delay_seed() {
  static auto* const seed = new std::atomic<std::uint64_t>(seed_of_environment());
  return *seed;
}

std::atomic<bool> process_ends{false};
std::atomic<int> live_threads{0};

// Never destroyed: threads may outlive it.
struct Streams {
  std::mutex mutex;
  std::map<cudaStream_t, std::shared_ptr<Stream>> of_handle;
  std::map<int, std::shared_ptr<Stream>> null_of_device;
  std::vector<std::weak_ptr<Stream>> running;  // also destroyed ones that still have work
  std::uint64_t started = 0;
  int queues = kHardwareQueues;  // of a device; 0: one for each stream
  // By device and place. A stream takes the next place when it is created.
  std::map<int, std::vector<std::shared_ptr<HardwareQueue>>> hardware;
  std::map<int, std::size_t> created;

  /// REQUIRES: mutex is held.
  std::shared_ptr<HardwareQueue> next_queue(int device) {
    if (queues == 0) return std::make_shared<HardwareQueue>();
    std::vector<std::shared_ptr<HardwareQueue>>& all_queues = hardware[device];
    while (all_queues.size() < static_cast<std::size_t>(queues))
      all_queues.push_back(std::make_shared<HardwareQueue>());
    return all_queues[created[device]++ % all_queues.size()];
  }

  std::vector<std::shared_ptr<Stream>> all() {
    const std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<Stream>> found;
    for (const std::weak_ptr<Stream>& one : running) {
      if (std::shared_ptr<Stream> stream = one.lock()) found.push_back(std::move(stream));
    }
    return found;
  }
};

Streams& streams() {
  static auto* const all = new Streams;
  return *all;
}

/// Ends all threads when the process ends. A thread that does not check exiting() is left running.
struct Ender {
  ~Ender() {
    process_ends = true;
    for (int waited_ms = 0; live_threads > 0 && waited_ms < 1000; waited_ms += 5) {
      for (const std::shared_ptr<Stream>& stream : streams().all()) stream->wake();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
};

/// Returns a pseudo-random number (splitmix64).
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

void set_hardware_queues(int queues) {
  const std::lock_guard lock(streams().mutex);
  streams().queues = queues;
  streams().hardware.clear();
  streams().created.clear();
}

bool HardwareQueue::wait_for_turn(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  while (current_ != number) {
    if (exiting()) return false;
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
  return true;
}

void HardwareQueue::end_turn() {
  const std::lock_guard lock(mutex_);
  ++current_;
  changed_.notify_all();
}

void delay_streams(std::uint64_t seed) { delay_seed() = seed; }

bool exiting() { return process_ends; }

std::shared_ptr<Stream> Stream::start(int device) {
  static Ender ender;
  std::shared_ptr<Stream> stream;
  {
    const std::lock_guard lock(streams().mutex);
    stream.reset(new Stream(device, ++streams().started, streams().next_queue(device)));
    std::erase_if(streams().running, [](const auto& one) { return one.expired(); });
    streams().running.push_back(stream);
  }
  ++live_threads;
  std::thread([stream] {
    stream->run();
    --live_threads;
  }).detach();
  return stream;
}

void Stream::enqueue(std::function<void()> work, bool always) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, kLongestWait, [&] { return queue_.size() < kLongestQueue || exiting(); });
  queue_.push_back({std::move(work), always, hardware_->take_number()});
  ++enqueued_;
  changed_.notify_all();
}

bool Stream::idle() const {
  const std::lock_guard lock(mutex_);
  return completed_ == enqueued_;
}

bool Stream::wait_idle() const {
  std::unique_lock lock(mutex_);
  const std::int64_t so_far = enqueued_;
  return changed_.wait_for(lock, kLongestWait, [&] { return completed_ >= so_far || exiting(); });
}

void Stream::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Stream::wake() {
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

void Stream::pause_at_random(std::uint64_t& state) const {
  const std::uint64_t seed = delay_seed();
  if (seed == 0) return;
  if (state == 0) state = seed * 0x2545f4914f6cdd1du + number_;
  const std::uint64_t random = next_random(state);
  if (random % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random / 4 % 500));
}

void Stream::run() {
  std::uint64_t random_state = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !queue_.empty() || closed_ || exiting(); });
    if (exiting() || queue_.empty()) return;
    Item item = std::move(queue_.front());
    queue_.pop_front();

    lock.unlock();
    pause_at_random(random_state);
    if (!hardware_->wait_for_turn(item.turn)) return;
    if (item.always || health_of(device_) == cudaSuccess) item.work();
    item.work = nullptr;  // destroys its captures before it counts as done
    hardware_->end_turn();
    lock.lock();

    ++completed_;
    changed_.notify_all();
  }
}

std::shared_ptr<Stream> find_stream(cudaStream_t handle) {
  if (handle == nullptr) {
    const int device = current_device();
    {
      const std::lock_guard lock(streams().mutex);
      const auto found = streams().null_of_device.find(device);
      if (found != streams().null_of_device.end()) return found->second;
    }
    std::shared_ptr<Stream> made = Stream::start(device);
    const std::lock_guard lock(streams().mutex);
    const auto [place, is_new] = streams().null_of_device.emplace(device, made);
    if (!is_new) made->close();  // another thread was faster
    return place->second;
  }
  const std::lock_guard lock(streams().mutex);
  const auto found = streams().of_handle.find(handle);
  return found == streams().of_handle.end() ? nullptr : found->second;
}

bool wait_for_device(int device) {
  bool done = true;
  for (const std::shared_ptr<Stream>& stream : streams().all()) {
    if (stream->device() == device) done = stream->wait_idle() && done;
  }
  return done;
}

int device_of(cudaStream_t stream) {
  const std::shared_ptr<Stream> found = find_stream(stream);
  return found == nullptr ? -1 : found->device();
}

cudaError_t enqueue(cudaStream_t stream, std::function<void()> work) {
  const std::shared_ptr<Stream> found = find_stream(stream);
  if (found == nullptr) return cudaErrorInvalidResourceHandle;
  found->enqueue(std::move(work));
  return cudaSuccess;
}

namespace {

/// Returns the device whose health decides the result of a call on the stream.
int device_or_current(cudaStream_t handle) {
  const int device = handle == nullptr ? -1 : device_of(handle);
  return device < 0 ? current_device() : device;
}

template <class Body>
cudaError_t call_on(const char* function, cudaStream_t handle, Body body) {
  return call(function, device_or_current(handle), [&]() -> cudaError_t {
    const std::shared_ptr<Stream> stream = find_stream(handle);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : body(*stream);
  });
}

}  // namespace
extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned int flags) {
  return call("cudaStreamCreateWithFlags", [&] {
    if (handle == nullptr || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
    std::shared_ptr<Stream> stream = Stream::start(current_device());
    *handle = reinterpret_cast<cudaStream_t>(stream.get());
    const std::lock_guard lock(streams().mutex);
    streams().of_handle.emplace(*handle, std::move(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreate(cudaStream_t* handle) {
  return cudaStreamCreateWithFlags(handle, cudaStreamDefault);
}

// Returns at once, as in CUDA; enqueued work still runs.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return call("cudaStreamDestroy", device_or_current(handle), [&] {
    const std::lock_guard lock(streams().mutex);
    const auto found = streams().of_handle.find(handle);
    if (found == streams().of_handle.end()) return cudaErrorInvalidResourceHandle;
    found->second->close();
    streams().of_handle.erase(found);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return call_on("cudaStreamQuery", handle, [](Stream& stream) {
    if (!stream.idle()) return cudaErrorNotReady;
    return health_of(stream.device());
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return call_on("cudaStreamSynchronize", handle, [](Stream& stream) {
    if (!stream.wait_idle()) return cudaErrorLaunchTimeout;
    return health_of(stream.device());
  });
}

cudaError_t cudaDeviceSynchronize(void) {
  return call("cudaDeviceSynchronize", [] {
    if (!wait_for_device(current_device())) return cudaErrorLaunchTimeout;
    return health_of(current_device());
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t fn, void* user_data) {
  return call_on("cudaLaunchHostFunc", handle, [&](Stream& stream) {
    if (fn == nullptr) return cudaErrorInvalidValue;
    stream.enqueue([fn, user_data] {
      inside_host_function() = true;
      fn(user_data);
      inside_host_function() = false;
    });
    return cudaSuccess;
  });
}

}  // extern "C"

}  // namespace rankbox::gpu::emulation
