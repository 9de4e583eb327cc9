// Plain values of a call as bytes: tensors, slices, places, arguments without behaviour.
//
// Over comm/result_bytes.h. Readers check what they read: a negative extent, more elements than
// bytes, or an unknown dtype is std::runtime_error.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "comm/result_bytes.h"
#include "comm/tensor.h"
#include "judge/seal/slices.h"
#include "training/cross_entropy.h"
#include "training/data/dataset.h"
#include "training/data/sampler.h"
#include "training/parameter.h"

namespace rankbox::seal {

template <class T>
void put_tensor(ByteWriter& writer, const TensorOf<T>& tensor) {
  writer.put(tensor.shape().extents());
  writer.put(std::string_view(tensor.empty() ? "" : reinterpret_cast<const char*>(tensor.data()),
                              static_cast<std::size_t>(tensor.bytes())));
}

/// What put_tensor wrote. The elements live as long as the bytes that were read.
struct ReadTensor {
  Shape shape;
  const char* elements;
};

template <class T>
ReadTensor read_tensor(ByteReader& reader) {
  auto extents = reader.next<std::vector<std::int64_t>>();
  const std::string_view bytes = reader.next_text();
  std::int64_t elements = extents.empty() ? 0 : 1;
  for (const std::int64_t extent : extents) {
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements))
      throw std::runtime_error("a tensor of an impossible shape");
  }
  if (static_cast<std::uint64_t>(elements) != bytes.size() / sizeof(T) ||
      bytes.size() % sizeof(T) != 0)
    throw std::runtime_error("a tensor whose shape and bytes differ");
  return {Shape(std::move(extents)), bytes.data()};
}

/// Returns a tensor that put_tensor wrote.
template <class T>
TensorOf<T> next_tensor(ByteReader& reader) {
  ReadTensor read = read_tensor<T>(reader);
  TensorOf<T> tensor{std::move(read.shape)};
  if (!tensor.empty()) detail::copy_from_host(tensor, read.elements);
  return tensor;
}

/// Reads into a tensor. Elements change in place where the shape is the same, because others may
/// point to them.
template <class T>
void get_tensor(ByteReader& reader, TensorOf<T>& tensor) {
  ReadTensor read = read_tensor<T>(reader);
  if (read.shape != tensor.shape()) tensor = TensorOf<T>{std::move(read.shape)};
  if (!tensor.empty()) detail::copy_from_host(tensor, read.elements);
}

inline void put_parameter(ByteWriter& writer, const Parameter& parameter) {
  put_tensor(writer, parameter.value);
  put_tensor(writer, parameter.gradient);
}

inline void get_parameter(ByteReader& reader, Parameter& parameter) {
  get_tensor(reader, parameter.value);
  get_tensor(reader, parameter.gradient);
  if (!parameter.gradient.empty() && !parameter.value.empty() &&
      parameter.gradient.size() != parameter.value.size())
    throw std::runtime_error("a gradient of another size than its value");
}

inline void put_shape(ByteWriter& writer, const Shape& shape) { writer.put(shape.extents()); }
inline Shape next_shape(ByteReader& reader) {
  return Shape(reader.next<std::vector<std::int64_t>>());
}

inline void put_batch(ByteWriter& writer, const Batch& batch) {
  put_tensor(writer, batch.x);
  writer.put(batch.labels);
  writer.put(batch.samples);
  writer.put(batch.lengths);
  writer.put(batch.padding);
}

inline Batch next_batch(ByteReader& reader) {
  Batch batch;
  batch.x = next_tensor<float>(reader);
  reader.get(batch.labels);
  reader.get(batch.samples);
  reader.get(batch.lengths);
  reader.get(batch.padding);
  return batch;
}

inline void put_loss(ByteWriter& writer, const Loss& loss) {
  writer.put(std::tuple(loss.sum, loss.counted, loss.correct));
  put_tensor(writer, loss.gradient);
}

inline void get_loss(ByteReader& reader, Loss& loss) {
  reader.get(loss.sum);
  reader.get(loss.counted);
  reader.get(loss.correct);
  get_tensor(reader, loss.gradient);
}

inline void put_pass(ByteWriter& writer, const Pass& pass) {
  writer.put(pass.mode);
  writer.put(pass.step);
  writer.put(pass.samples);
  writer.put(pass.lengths);
}

inline Pass next_pass(ByteReader& reader) {
  Pass pass;
  pass.mode = reader.next<std::int32_t>() == 0 ? Mode::kTraining : Mode::kEvaluation;
  reader.get(pass.step);
  reader.get(pass.samples);
  reader.get(pass.lengths);
  return pass;
}

}  // namespace rankbox::seal
