// Futexes of a learner's threads are private to their process.
//
// std::atomic's wait and notify make the system call themselves, and ask for a futex that processes
// may share. The filter refuses to wake one: on a page of a file, it would wake another rank. A
// library's call of syscall() finds this function before the C library's.
#include <atomic>
#include <cstdarg>

#include <dlfcn.h>
#include <linux/futex.h>
#include <sys/syscall.h>

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the system's is reserved
extern "C" __attribute__((visibility("default"))) long syscall(long number, ...) noexcept {
  using Function = long (*)(long, ...);
  static constinit std::atomic<Function> real = nullptr;
  Function call = real;
  if (call == nullptr) real = call = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "syscall"));

  long argument[6];
  va_list list;
  va_start(list, number);
  for (long& each : argument) each = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex) argument[1] |= FUTEX_PRIVATE_FLAG;
  return call(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}
