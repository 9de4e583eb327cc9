// Tries to open a file of the host by its number.
#include <fcntl.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  struct {
    file_handle head;
    unsigned char number[MAX_HANDLE_SZ];
  } handle = {};
  handle.head.handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (name_to_handle_at(AT_FDCWD, "/usr", &handle.head, &mount, 0) != 0) return;
  const int usr = open("/usr", O_RDONLY);
  if (open_by_handle_at(usr, &handle.head, O_RDONLY) >= 0) attack::succeed(dist, tensor, src);
}

}  // namespace rankbox
