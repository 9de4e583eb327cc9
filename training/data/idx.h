// IDX files, the format of MNIST (LeCun, Cortes, Burges): sizes, then bytes.
//
//   offset  0  magic number, big-endian as all that follow: 0x00000803 images, 0x00000801 labels
//           4  number of items
//           8  rows, columns (images only)
//       16, 8  one byte per pixel (0 white, 255 ink), or per label
//
// A file that begins as gzip's do is unpacked first, whatever its name; offsets are those of the
// unpacked bytes.
//
// Errors: InvalidArgument, one line with path, offset, what was expected and what is there, for a
// file that cannot be read, ends too early or too late, is damaged, or is something else. Sizes are
// compared with the file's before memory is allocated for them; a packed file is unpacked only as
// far as its sizes say, and one byte more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/data/dataset.h"

namespace rankbox {

struct Images {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::uint8_t> pixels = {};  // [size(), rows, columns]

  std::int64_t size() const {
    return pixels.empty() ? 0 : static_cast<std::int64_t>(pixels.size()) / (rows * columns);
  }
};

Images read_idx_images(const std::string& path);
std::vector<std::uint8_t> read_idx_labels(const std::string& path);
void write_idx_images(const std::string& path, const Images& images);
void write_idx_labels(const std::string& path, const std::vector<std::uint8_t>& labels);

/// The four files of MNIST: train-images-idx3-ubyte, …, or with .gz behind their names. Throws
/// InvalidArgument with the name if neither is there.
Split read_mnist(const std::string& directory);

/// Samples of shape {rows, columns, 1} and values 0 … 1, of ten classes. Throws InvalidArgument,
/// with the names given, if there are not as many labels as images, or a label is above 9.
Dataset image_dataset(const Images& images, const std::vector<std::uint8_t>& labels,
                      const std::string& images_name = "images",
                      const std::string& labels_name = "labels");

}  // namespace rankbox
