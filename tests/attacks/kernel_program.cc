// Tries to run programs in the kernel.
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  bpf_attr map = {};
  map.map_type = BPF_MAP_TYPE_ARRAY;
  map.key_size = map.value_size = map.max_entries = 4;
  if (syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof(map)) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
