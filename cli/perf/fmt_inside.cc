// fmt's own code, compiled into the program, which then runs where libfmt is not installed. Whatever
// a version of fmt does not have in here is found in its shared library, as ever.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {
template FMT_API auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template FMT_API auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
