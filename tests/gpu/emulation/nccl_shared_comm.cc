#include "tests/gpu/emulation/nccl_shared_comm.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>

#include "tests/gpu/emulation/cuda_control.h"
#include "tests/gpu/emulation/nccl_control.h"
#include "tests/gpu/emulation/nccl_reduce.h"

namespace rankbox::gpu::emulation {
namespace {

std::size_t bytes_of(const Task& task) { return task.count * element_bytes(task.dtype); }

bool agree(const Task& a, const Task& b) {
  return std::tie(a.kind, a.count, a.dtype, a.op, a.peer) ==
         std::tie(b.kind, b.count, b.dtype, b.op, b.peer);
}

void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}

/// Executes a collective that all ranks have reached and agree on.
void carry_out(const std::vector<const Task*>& tasks) {
  const Task& first = *tasks.front();
  const std::size_t bytes = bytes_of(first);
  const std::size_t ranks = tasks.size();
  const bool reduces = first.kind == TaskKind::kReduce || first.kind == TaskKind::kAllReduce ||
                       first.kind == TaskKind::kReduceScatter;
  // The complete result, before anything is written: calls may be in place.
  std::vector<std::byte> result;
  if (reduces) {
    const bool scatters = first.kind == TaskKind::kReduceScatter;
    const std::size_t count = scatters ? first.count * ranks : first.count;
    result.resize(count * element_bytes(first.dtype));
    std::vector<const void*> inputs;
    for (const Task* task : tasks) inputs.push_back(task->in);
    reduce_arrays(inputs, result.data(), count, first.dtype, first.op);
  } else if (first.kind == TaskKind::kAllGather) {
    result.resize(bytes * ranks);
    for (std::size_t r = 0; r < ranks; ++r) copy(&result[r * bytes], tasks[r]->in, bytes);
  } else {
    const auto* const root = tasks[static_cast<std::size_t>(first.peer)];
    result.resize(bytes);
    copy(result.data(), root->in, bytes);
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    if (first.kind == TaskKind::kReduce && static_cast<int>(r) != first.peer) continue;
    if (first.kind == TaskKind::kReduceScatter) {
      copy(tasks[r]->out, &result[r * bytes], bytes);
    } else {
      copy(tasks[r]->out, result.data(), result.size());
    }
  }
}

/// The devices' kernels of NCCL that are executed now.
struct Residents {
  std::mutex mutex;
  std::condition_variable changed;
  int most = 0;
  std::map<int, int> of_device;
};

Residents& residents() {
  static auto* const all = new Residents;
  return *all;
}

/// A kernel's place among them.
class Residence {
 public:
  Residence(int device, const std::atomic<bool>& aborted) : device_(device) {
    std::unique_lock lock(residents().mutex);
    int& count = residents().of_device[device];
    while (residents().most > 0 && count >= residents().most && !aborted && !exiting())
      residents().changed.wait_for(lock, std::chrono::milliseconds(20));
    ++count;
  }
  ~Residence() {
    const std::lock_guard lock(residents().mutex);
    --residents().of_device[device_];
    residents().changed.notify_all();
  }
  Residence(const Residence&) = delete;
  Residence& operator=(const Residence&) = delete;

 private:
  int device_;
};

}  // namespace

void set_resident_kernels(int most) {
  const std::lock_guard lock(residents().mutex);
  residents().most = most;
}

std::int64_t running_nccl_operations() { return operations_among_devices(); }

bool SharedComm::join(int rank, int device) {
  const std::lock_guard lock(mutex_);
  int& mine = devices_[static_cast<std::size_t>(rank)];
  if (mine >= 0) return false;
  mine = device;
  return true;
}

bool SharedComm::all_have_joined() const {
  const std::lock_guard lock(mutex_);
  return std::find(devices_.begin(), devices_.end(), -1) == devices_.end();
}

int SharedComm::twin_of(int rank) const {
  const std::lock_guard lock(mutex_);
  for (int other = 0; other < size(); ++other) {
    if (other != rank &&
        devices_[static_cast<std::size_t>(other)] == devices_[static_cast<std::size_t>(rank)]) {
      return other;
    }
  }
  return -1;
}

void SharedComm::call_split(std::uint64_t n, int rank, int color, int key) {
  const std::lock_guard lock(mutex_);
  Split& split = splits_[n];
  split.calls.resize(devices_.size());
  split.called.resize(devices_.size(), false);
  split.calls[static_cast<std::size_t>(rank)] = {color, key};
  split.called[static_cast<std::size_t>(rank)] = true;
}

std::unique_ptr<SharedComm::Place> SharedComm::result_of_split(std::uint64_t n, int rank) {
  const std::lock_guard lock(mutex_);
  Split& split = splits_[n];
  if (std::find(split.called.begin(), split.called.end(), false) != split.called.end()) {
    return nullptr;
  }
  const int color = split.calls[static_cast<std::size_t>(rank)].first;
  auto place = std::make_unique<Place>();
  if (color < 0) return place;
  std::vector<std::pair<int, int>> members;  // key, rank here
  for (int r = 0; r < size(); ++r) {
    const auto& [its_color, key] = split.calls[static_cast<std::size_t>(r)];
    if (its_color == color) members.emplace_back(key, r);
  }
  std::sort(members.begin(), members.end());
  std::shared_ptr<SharedComm>& part = split.parts[color];
  if (part == nullptr) part = std::make_shared<SharedComm>(static_cast<int>(members.size()));
  place->shared_comm = part;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].second == rank) place->rank = static_cast<int>(i);
  }
  return place;
}

void SharedComm::wake() {
  // With the lock held: a kernel that is about to wait has checked before, or sees it now.
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

/// Returns false if the rank has aborted, or the process ends.
template <class Done>
bool SharedComm::wait(std::unique_lock<std::mutex>& lock, const Kernel& kernel, Done done) {
  while (!done()) {
    if (kernel.aborted->load() || exiting()) return false;
    changed_.wait_for(lock, std::chrono::milliseconds(20));
  }
  return true;
}

SharedComm::Queue& SharedComm::queue(int rank, const Task& task, TaskKind kind) {
  const bool sends = task.kind == TaskKind::kSend;
  const auto pair = sends ? std::pair(rank, task.peer) : std::pair(task.peer, rank);
  return kind == TaskKind::kSend ? sends_[pair] : receives_[pair];
}

void SharedComm::post(int rank, Message& message) {
  const Task& mine = *message.task;
  const bool sends = mine.kind == TaskKind::kSend;
  Queue& theirs = queue(rank, mine, sends ? TaskKind::kRecv : TaskKind::kSend);
  // Two that do not match never complete: the real library would hang too, or write out of bounds.
  if (!theirs.empty() && bytes_of(*theirs.front()->task) == bytes_of(mine)) {
    Message& other = *theirs.front();
    theirs.pop_front();
    const Task& send = sends ? mine : *other.task;
    const Task& receive = sends ? *other.task : mine;
    copy(receive.out, send.in, bytes_of(send));
    message.done = other.done = true;
    changed_.notify_all();
  } else {
    queue(rank, mine, mine.kind).push_back(&message);
  }
}

void SharedComm::withdraw(int rank, Message& message) {
  Queue& mine = queue(rank, *message.task, message.task->kind);
  mine.erase(std::remove(mine.begin(), mine.end(), &message), mine.end());
}

bool SharedComm::take_part(std::unique_lock<std::mutex>& lock, const Kernel& kernel,
                           const Task& task) {
  Meeting& meeting = meetings_[task.collective];
  meeting.tasks.resize(devices_.size(), nullptr);
  const Task*& mine = meeting.tasks[static_cast<std::size_t>(kernel.rank)];
  mine = &task;
  if (++meeting.arrived == size()) {
    const bool all_agree = std::all_of(meeting.tasks.begin(), meeting.tasks.end(),
                                       [&](const Task* other) { return agree(task, *other); });
    if (all_agree) {
      carry_out(meeting.tasks);
      meeting.done = true;
      changed_.notify_all();
    }
  }
  if (!wait(lock, kernel, [&] { return meeting.done; })) {
    mine = nullptr;
    --meeting.arrived;
    return false;
  }
  if (++meeting.left == size()) meetings_.erase(task.collective);
  return true;
}

void SharedComm::run(const Kernel& kernel) {
  const Residence residence(devices_[static_cast<std::size_t>(kernel.rank)], *kernel.aborted);
  ++operations_among_devices();
  std::unique_lock lock(mutex_);
  std::deque<Message> messages;
  bool goes_on = !kernel.aborted->load();
  if (kernel.hangs) goes_on = wait(lock, kernel, [] { return false; });
  for (const Task& task : kernel.tasks) {
    if (!goes_on || !task.is_message()) continue;
    messages.push_back({&task});
    post(kernel.rank, messages.back());
  }
  for (const Task& task : kernel.tasks) {
    if (goes_on && !task.is_message()) goes_on = take_part(lock, kernel, task);
  }
  const auto all_done = [&] {
    return std::all_of(messages.begin(), messages.end(), [](const auto& m) { return m.done; });
  };
  if (goes_on) goes_on = wait(lock, kernel, all_done);
  for (Message& message : messages) {
    if (!message.done) withdraw(kernel.rank, message);
  }
  --operations_among_devices();
}

}  // namespace rankbox::gpu::emulation
