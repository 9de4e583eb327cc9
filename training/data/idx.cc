#include "training/data/idx.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "comm/errors.h"
#include "training/data/gunzip.h"
#include "training/data/read_file.h"

namespace rankbox {
namespace {

constexpr std::uint32_t kImages = 0x00000803;
constexpr std::uint32_t kLabels = 0x00000801;
constexpr std::uint64_t kLongestHeader = 16;

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

/// Returns the product; the largest number, if it is larger than that.
std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return b != 0 && a > kMost / b ? kMost : a * b;
}

/// Returns the size of the file that begins so; of a header, if it is neither images nor labels.
std::uint64_t size_by_header(std::string_view begin) {
  const std::uint32_t magic = begin.size() < 8 ? 0 : number_at(begin, 0);
  if (magic == kLabels) return 8 + std::uint64_t{number_at(begin, 4)};
  if (magic != kImages || begin.size() < kLongestHeader) return kLongestHeader;
  const std::uint64_t each = std::uint64_t{number_at(begin, 8)} * number_at(begin, 12);
  const std::uint64_t pixels = bounded_product(number_at(begin, 4), each);
  return std::max(pixels, pixels + kLongestHeader);  // the sum may overflow
}

/// A file's bytes, read from front to back.
class IdxFile {
 public:
  explicit IdxFile(const std::string& path) : path_(path), bytes_(read_file(path)) {
    if (!is_gzip(bytes_)) return;
    const std::uint64_t size = size_by_header(gunzip(bytes_, kLongestHeader).bytes);
    // One byte more shows that the file is too long, whatever it unpacks to.
    Unpacked unpacked = gunzip(bytes_, std::max(size, size + 1));
    bytes_ = std::move(unpacked.bytes);
    has_more_ = unpacked.has_more;
    if (!unpacked.problem.empty()) problem_ = "; " + unpacked.problem;
  }

  std::uint32_t number(const char* what) {
    if (bytes_.size() - at_ < 4) {
      throw InvalidArgument(
          fmt::format("{}: offset {}: expected the {} in 4 bytes, found the end of the file after "
                      "{}{}",
                      path_, at_, what, bytes_.size() - at_, problem_));
    }
    at_ += 4;
    return number_at(bytes_, at_ - 4);
  }

  void expect_magic(std::uint32_t expected, const char* kind) {
    const std::uint32_t found = number("magic number");
    if (found == expected) return;
    throw InvalidArgument(
        fmt::format("{}: offset 0: expected the magic number {:#010x} of IDX {}, found {:#010x}{}",
                    path_, expected, kind, found, problem_));
  }

  /// The rest of the file, which should be `count` items of `each` bytes.
  std::vector<std::uint8_t> rest(std::uint64_t count, std::uint64_t each, const char* what) {
    const std::uint64_t left = bytes_.size() - at_;
    // Divides, because the product may overflow 64 bits.
    const bool fits =
        each == 0 ? left == 0 && count == 0 : left % each == 0 && left / each == count;
    if (!fits || !problem_.empty()) {
      const bool is_known = each == 0 || count <= std::numeric_limits<std::uint64_t>::max() / each;
      const std::string sum = is_known ? fmt::format(", {} bytes", count * each) : "";
      throw InvalidArgument(fmt::format(
          "{}: offset {}: expected {} {} of {} bytes{}, found {}{} bytes{}; download it again?",
          path_, at_, count, what, each, sum, has_more_ ? "at least " : "", left, problem_));
    }
    return {bytes_.begin() + static_cast<std::ptrdiff_t>(at_), bytes_.end()};
  }

 private:
  std::string path_;
  std::string bytes_;      // unpacked
  std::string problem_;    // of the packed file, behind "; "; else empty
  bool has_more_ = false;  // than bytes_, in the packed file
  std::size_t at_ = 0;
};

void write(const std::string& path, std::initializer_list<std::int64_t> header,
           const std::vector<std::uint8_t>& bytes) {
  std::ofstream file(path, std::ios::binary);
  for (const std::int64_t number : header) {
    for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(number >> shift & 255));
  }
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) throw InvalidArgument(fmt::format("{}: cannot be written", path));
}

std::string file_of(const std::string& directory, const std::string& name) {
  namespace fs = std::filesystem;
  std::string path = directory + "/" + name;
  if (fs::exists(path)) return path;
  if (fs::exists(path + ".gz")) return path + ".gz";
  throw InvalidArgument(
      fmt::format("{}: there is no such file, nor one of that name with .gz: put "
                  "MNIST's four files there, packed or not",
                  path));
}

}  // namespace

Images read_idx_images(const std::string& path) {
  IdxFile file(path);
  file.expect_magic(kImages, "images");
  const std::uint32_t count = file.number("number of images");
  const std::uint32_t rows = file.number("number of rows");
  const std::uint32_t columns = file.number("number of columns");
  return {rows, columns, file.rest(count, std::uint64_t{rows} * columns, "images")};
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path) {
  IdxFile file(path);
  file.expect_magic(kLabels, "labels");
  return file.rest(file.number("number of labels"), 1, "labels");
}

void write_idx_images(const std::string& path, const Images& images) {
  write(path, {kImages, images.size(), images.rows, images.columns}, images.pixels);
}

void write_idx_labels(const std::string& path, const std::vector<std::uint8_t>& labels) {
  write(path, {kLabels, static_cast<std::int64_t>(labels.size())}, labels);
}

Split read_mnist(const std::string& directory) {
  const auto read = [&](const std::string& part) {
    const std::string images = file_of(directory, part + "-images-idx3-ubyte");
    const std::string labels = file_of(directory, part + "-labels-idx1-ubyte");
    return image_dataset(read_idx_images(images), read_idx_labels(labels), images, labels);
  };
  return {read("train"), read("t10k")};
}

Dataset image_dataset(const Images& images, const std::vector<std::uint8_t>& labels,
                      const std::string& images_name, const std::string& labels_name) {
  if (images.size() != static_cast<std::int64_t>(labels.size())) {
    throw InvalidArgument(fmt::format("{} holds {} images, but {} {} labels: expected as many",
                                      images_name, images.size(), labels_name, labels.size()));
  }
  Dataset dataset;
  dataset.sample_shape = {images.rows, images.columns, 1};
  dataset.classes = 10;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= dataset.classes) {
      throw InvalidArgument(fmt::format("{}: label {} is {}, expected 0 to {}", labels_name, i,
                                        labels[i], dataset.classes - 1));
    }
    dataset.labels.push_back(labels[i]);
  }
  dataset.values.reserve(images.pixels.size());
  for (const std::uint8_t pixel : images.pixels)
    dataset.values.push_back(static_cast<float>(pixel) / 255);
  return dataset;
}

}  // namespace rankbox
