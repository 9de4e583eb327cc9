// What the library of a program was built with.
#include <cstddef>

#include <dlfcn.h>
#include <link.h>

#include "judge/interleave/explore.h"

namespace rankbox::interleave {

namespace {

// Sanitizers have to be told of every switch between fibers, and nothing here does.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

}  // namespace

bool is_controlled(const void* function) {
  if (kSanitized) return false;
  Dl_info info = {};
  if (dladdr(function, &info) == 0) return false;
  void* library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool is_marked = dlsym(library, "rankbox_is_controlled") != nullptr;
  dlclose(library);
  return is_marked;
}

bool has_thread_locals(const void* function) {
  struct Search {
    const void* function;
    bool found;
  };
  Search search = {function, false};
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* data) {
        auto& its = *static_cast<Search*>(data);
        const auto address = reinterpret_cast<ElfW(Addr)>(its.function);
        bool is_inside = false;
        bool has_locals = false;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = library->dlpi_phdr[i];
          const ElfW(Addr) begin = library->dlpi_addr + part.p_vaddr;
          is_inside |= part.p_type == PT_LOAD && begin <= address && address - begin < part.p_memsz;
          has_locals |= part.p_type == PT_TLS;
        }
        its.found = is_inside && has_locals;
        return is_inside ? 1 : 0;
      },
      &search);
  return search.found;
}

}  // namespace rankbox::interleave
