// The code of toml++, for the reason that fmt_inside.cc has.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
