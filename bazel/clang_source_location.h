// std::source_location for clang before 15, which lacks the builtin that libstdc++ builds it on
// (its <source_location> is then an empty header). For bazel/check_tidy.sh and fuzz.sh, which
// include it by flag. Empty for every other compiler.
#ifndef RANKBOX_BAZEL_CLANG_SOURCE_LOCATION_H_
#define RANKBOX_BAZEL_CLANG_SOURCE_LOCATION_H_

#if defined(__clang__) && defined(__cplusplus) && __cplusplus > 201703L
#if !__has_builtin(__builtin_source_location)

#include <cstdint>

// NOLINTBEGIN: the standard's names, not ours.
namespace std {

struct source_location {
  static constexpr source_location current(const char* file = __builtin_FILE(),
                                           const char* function = __builtin_FUNCTION(),
                                           uint_least32_t line = __builtin_LINE(),
                                           uint_least32_t column = __builtin_COLUMN()) noexcept {
    source_location here;
    here.file_ = file;
    here.function_ = function;
    here.line_ = line;
    here.column_ = column;
    return here;
  }

  constexpr const char* file_name() const noexcept { return file_; }
  constexpr const char* function_name() const noexcept { return function_; }
  constexpr uint_least32_t line() const noexcept { return line_; }
  constexpr uint_least32_t column() const noexcept { return column_; }

 private:
  const char* file_ = "";
  const char* function_ = "";
  uint_least32_t line_ = 0;
  uint_least32_t column_ = 0;
};

}  // namespace std
// NOLINTEND

#endif
#endif

#endif  // RANKBOX_BAZEL_CLANG_SOURCE_LOCATION_H_
