// The text of exercises/registry.toml, as it was when this was built.
#pragma once

namespace rankbox {

const char* registry_text();

}  // namespace rankbox
