// The ids under which git stores the contents of files.
#pragma once

#include <string>
#include <string_view>

namespace rankbox {

/// The id of a blob with this content, 40 hexadecimal digits: what `git hash-object` prints.
std::string git_blob_id(std::string_view content);

}  // namespace rankbox
