// IDX files: round trips, and every way in which they can be broken.
#include "training/data/idx.h"

#include <filesystem>
#include <fstream>
#include <functional>

#include <doctest/doctest.h>
#include <unistd.h>
#include <zlib.h>

#include "comm/errors.h"
#include "tests/support/text.h"
#include "training/data/digits.h"
#include "training/data/gunzip.h"

namespace rankbox {
namespace {

namespace fs = std::filesystem;

/// A folder that is gone when the test is.
class Folder {
 public:
  Folder() {
    const char* parent = std::getenv("TEST_TMPDIR");
    path_ = fs::path(parent != nullptr ? parent : fs::temp_directory_path().string()) /
            ("idx_test." + std::to_string(::getpid()));
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

TEST_CASE("images and labels come back as they were written, of any number and size") {
  const Folder folder;
  const std::string path = folder.file("file");
  for (const std::int64_t count : {0, 1, 5}) {
    for (const auto& [rows, columns] :
         {std::pair<std::int64_t, std::int64_t>{1, 1}, {28, 28}, {3, 7}}) {
      Images images{rows, columns};
      for (std::int64_t i = 0; i < count * rows * columns; ++i)
        images.pixels.push_back(static_cast<std::uint8_t>(i * 37));
      write_idx_images(path, images);
      const Images back = read_idx_images(path);
      CHECK(back.rows == rows);
      CHECK(back.columns == columns);
      CHECK(back.size() == count);
      CHECK(back.pixels == images.pixels);
    }
    const std::vector<std::uint8_t> labels(static_cast<std::size_t>(count), 9);
    write_idx_labels(path, labels);
    CHECK(read_idx_labels(path) == labels);
  }
}

TEST_CASE("the bytes are those of the format: big-endian, magic numbers 2051 and 2049") {
  const Folder folder;
  const std::string path = folder.file("file");
  write_idx_images(path, {1, 2, {7, 255}});
  CHECK(read(path) == std::string("\0\0\x08\x03\0\0\0\x01\0\0\0\x01\0\0\0\x02\x07\xff", 18));
  write_idx_labels(path, {3, 1});
  CHECK(read(path) == std::string("\0\0\x08\x01\0\0\0\x02\x03\x01", 10));
}

TEST_CASE("a broken file is refused in one line with path, offset, expected and found") {
  const Folder folder;
  const std::string path = folder.file("images");
  write_idx_images(path, {2, 2, {1, 2, 3, 4, 5, 6, 7, 8}});
  const std::string whole = read(path);
  const auto changed = [&](std::size_t at, char byte) {
    std::string bytes = whole;
    bytes[at] = byte;
    return bytes;
  };
  const std::pair<std::string, std::vector<std::string>> broken[] = {
      {"", {"offset 0"}},
      {whole.substr(0, 3), {"offset 0"}},
      {whole.substr(0, 7), {"offset 4"}},
      {whole.substr(0, 12), {"offset 12"}},
      {whole.substr(0, 23), {"offset 16", "2 images of 4 bytes", "7 bytes"}},
      {whole.substr(0, 20), {"offset 16", "2 images of 4 bytes", "4 bytes"}},
      {whole + "x", {"offset 16", "2 images of 4 bytes", "9 bytes"}},
      {changed(3, 1), {"offset 0", "0x00000803", "0x00000801"}},
      {changed(0, '\x1f'), {"0x1f000803"}},
      {changed(7, 3), {"3 images of 4 bytes", "8 bytes"}},
      {changed(4, '\xff'), {"4278190082 images"}},
      {changed(8, '\xff'), {"2 images of 8556380164 bytes", "8 bytes"}},
      {changed(11, 0), {"2 images of 0 bytes", "8 bytes"}},
  };
  for (const auto& [bytes, parts] : broken) {
    write(path, bytes);
    const std::string message = complaint([&] { read_idx_images(path); });
    INFO(message);
    CHECK(message.starts_with(path + ": "));
    CHECK(testing::lacks(message, parts) == "");
    CHECK(message.find('\n') == std::string::npos);
  }
  CHECK(testing::contains(complaint([&] { read_idx_labels(path); }), "0x00000801"));
  CHECK(complaint([&] {
          read_idx_images(folder.file("none"));
        }).starts_with(folder.file("none") + ": "));
  CHECK(complaint([&] { read_idx_images(folder.path()); }).starts_with(folder.path() + ": "));
  CHECK(complaint([&] {
          write_idx_labels(folder.file("no/such"), {});
        }).starts_with(folder.file("no/such") + ": "));
}

TEST_CASE("a file cut at any byte is refused") {
  const Folder folder;
  const std::string path = folder.file("labels");
  write_idx_labels(path, {1, 2, 3});
  const std::string whole = read(path);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(path, whole.substr(0, length));
    CHECK(complaint([&] { read_idx_labels(path); }) != "none");
  }
}

/// Returns the bytes as a gzip file.
std::string packed(const Folder& folder, const std::string& bytes) {
  const std::string path = folder.file("packed");
  gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())) ==
          static_cast<int>(bytes.size()));
  REQUIRE(gzclose(file) == Z_OK);
  return read(path);
}

TEST_CASE("a packed file is read as the one inside it, whatever its name") {
  const Folder folder;
  const std::string path = folder.file("images");
  write_idx_images(path, {2, 2, {1, 2, 3, 4, 5, 6, 7, 8}});
  const std::string whole = read(path);
  // Gzip files may follow each other in one.
  for (const std::string& bytes : {packed(folder, whole), packed(folder, whole.substr(0, 9)) +
                                                              packed(folder, whole.substr(9))}) {
    write(path, bytes);
    CHECK(read_idx_images(path).pixels == std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8});
  }
  const std::string large(1 << 20, '\7');
  write_idx_images(path, {1 << 10, 1 << 10, {large.begin(), large.end()}});
  write(path, packed(folder, read(path)));
  CHECK(read(path).size() < large.size());
  CHECK(read_idx_images(path).pixels.size() == large.size());
}

TEST_CASE("a damaged packed file is refused with the bytes that were expected and found") {
  const Folder folder;
  const std::string path = folder.file("labels.gz");
  write_idx_labels(path, {1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0});
  const std::string whole = packed(folder, read(path));
  for (std::size_t length = 2; length < whole.size(); ++length) {
    write(path, whole.substr(0, length));
    const std::string message = complaint([&] { read_idx_labels(path); });
    INFO(message);
    CHECK(testing::lacks(message, {path + ": ", "expected", "cut off at offset"}) == "");
  }
  // Its last four bytes are the length, the four before it the checksum.
  for (const std::size_t back : {1, 6}) {
    std::string bytes = whole;
    bytes[bytes.size() - back] ^= 1;
    write(path, bytes);
    CHECK(testing::lacks(complaint([&] { read_idx_labels(path); }),
                         {"20 labels of 1 bytes, 20 bytes", "found 20 bytes", "damaged"}) == "");
  }
  write(path, whole + "more");
  CHECK(testing::contains(complaint([&] { read_idx_labels(path); }), "4 bytes follow"));
}

TEST_CASE("a packed file is not unpacked beyond the size in its header") {
  const Folder folder;
  const std::string path = folder.file("bomb");
  const std::string zeros(1 << 24, '\0');
  const struct {
    std::string header;
    std::vector<std::string> parts;
  } rows[] = {
      {{"\0\0\x08\x01\0\0\0\x03", 8}, {"3 labels of 1 bytes", "found at least 4 bytes"}},
      {{"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03", 16},
       {"2 images of 6 bytes", "found at least 13 bytes"}},
      {"", {"offset 0", "found 0x00000000"}},
  };
  for (const auto& [header, parts] : rows) {
    write(path, packed(folder, header + zeros));
    CHECK(read(path).size() < zeros.size() / 500);
    const bool is_labels = testing::contains(parts[0], "labels");
    const std::string message =
        complaint([&] { is_labels ? void(read_idx_labels(path)) : void(read_idx_images(path)); });
    CHECK(testing::lacks(message, parts) == "");
  }
  CHECK(gunzip(read(path), 100).bytes.size() == 100);
  CHECK(gunzip(read(path), 100).has_more);
  CHECK_FALSE(gunzip(read(path), zeros.size() + 1).has_more);
  // Sizes whose product overflows.
  const std::string huge = std::string("\0\0\x08\x03", 4) + std::string(12, '\xff') + "few";
  write(path, packed(folder, huge));
  CHECK(testing::contains(complaint([&] { read_idx_images(path); }), "found 3 bytes"));
}

TEST_CASE("images and labels must be equally many, and labels digits") {
  const Images two{1, 1, {0, 255}};
  const std::string number = complaint([&] { image_dataset(two, {1, 2, 3}, "a.idx", "b.idx"); });
  CHECK(testing::lacks(number, {"a.idx", "2 images", "b.idx", "3 labels"}) == "");
  const std::string label = complaint([&] { image_dataset(two, {1, 10}, "a.idx", "b.idx"); });
  CHECK(testing::lacks(label, {"b.idx: ", "10", "0 to 9"}) == "");
  CHECK(image_dataset(two, {0, 9}).values == std::vector<float>{0, 1});
}

TEST_CASE("a folder with MNIST's four files is a dataset; one that lacks some is not") {
  const Folder folder;
  std::vector<std::uint8_t> labels;
  const Images images = draw_digits(6, 1, labels);
  for (const char* part : {"train", "t10k"}) {
    CHECK(complaint([&] { read_mnist(folder.path()); }) != "none");
    write_idx_images(folder.file(std::string(part) + "-images-idx3-ubyte"), images);
    write_idx_labels(folder.file(std::string(part) + "-labels-idx1-ubyte"), labels);
  }
  const std::string packed_labels = folder.file("t10k-labels-idx1-ubyte");
  write(packed_labels + ".gz", packed(folder, read(packed_labels)));
  fs::remove(packed_labels);
  const Split split = read_mnist(folder.path());
  CHECK(split.train.size() == 6);
  CHECK(split.test.sample_shape == Shape{28, 28, 1});
}

}  // namespace
}  // namespace rankbox
