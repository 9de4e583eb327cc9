// Tries to hold a second copy in a file that is in memory alone.
#include <sys/mman.h>
#include <unistd.h>

#include "second_copy.h"

namespace rankbox {

void zero1(Comm& dist, const std::vector<Parameter*>& parameters, Shard& shard,
           Optimizer& optimizer) {
  const std::size_t bytes = attack::bytes_of(dist, shard);
  const int file = memfd_create("copy", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  attack::zero1_with(dist, parameters, shard, optimizer, static_cast<char*>(memory));
  munmap(memory, bytes);
  close(file);
}

}  // namespace rankbox
