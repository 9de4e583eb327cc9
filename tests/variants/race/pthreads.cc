// Threads and a lock of POSIX, and one argument for all that a thread needs.
#include <vector>

#include <pthread.h>

#include "collectives/race.h"

namespace rankbox {

namespace {

struct Work {
  SharedValue* value;
  pthread_mutex_t* mutex;
  std::int64_t amount;
  std::int64_t repeats;
};

void* run(void* argument) {
  const auto& work = *static_cast<Work*>(argument);
  for (std::int64_t i = 0; i < work.repeats; ++i) {
    pthread_mutex_lock(work.mutex);
    work.value->store(work.value->load() + work.amount);
    pthread_mutex_unlock(work.mutex);
  }
  return nullptr;
}

}  // namespace

void race(SharedValue& value, int threads, std::int64_t repeats) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  std::vector<Work> work;
  for (int i = 0; i < threads; ++i) work.push_back({&value, &mutex, i % 2 == 0 ? 1 : -1, repeats});
  std::vector<pthread_t> handles(work.size());
  for (std::size_t i = 0; i < work.size(); ++i) pthread_create(&handles[i], nullptr, run, &work[i]);
  for (const pthread_t handle : handles) pthread_join(handle, nullptr);
}

}  // namespace rankbox
