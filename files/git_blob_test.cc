#include "files/git_blob.h"

#include <doctest/doctest.h>

namespace rankbox {

TEST_CASE("a blob's id is what git hash-object prints") {
  struct Row {
    std::string content;
    const char* id;
  };
  const Row rows[] = {
      {"", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"},
      {"abc\n", "8baef1b4abc478178b004d62031cf7fe6db6f903"},
      {std::string(47, 'x'), "719ddd7888a02660234770b651274214ff7df239"},
      {std::string(48, 'x'), "3b3abca28de4b8ce6ea9dac5da512120ed7c5a0c"},
      {std::string(55, 'x'), "e329c5109ce10a7367561757d2f5a053c528f11e"},
      {std::string(56, 'x'), "355e203863c368f0404d7fc7ae4761122c117dd2"},
      {std::string(57, 'x'), "f32768e30e0507780e5b9edc8afa9d3f1009926c"},
      {std::string(120, 'x'), "cb470da43c08b0274449cea06ef71c6e77359c30"},
      {std::string(1000, 'x'), "14c7dfdd4258dec5c0e9d2e919bd249bd674be1f"},
      {"\xe2\x86\x92\r\n", "dcdf11eed883d7ad5d254a442d1815604671bdd5"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.content);
    CHECK(git_blob_id(row.content) == row.id);
  }
}

}  // namespace rankbox
