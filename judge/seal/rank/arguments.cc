#include "judge/seal/rank/objects.h"

namespace rankbox::seal {

std::map<std::uint32_t, Saved>& saveds() {
  static std::map<std::uint32_t, Saved> all;
  return all;
}

Made<const TrainingState&>::Made(Invocation& call, ByteReader& reader) {
  call.training = &state_;
  reader.get(state_.model);
  for (auto left = reader.next<std::size_t>(); left > 0; --left) {
    auto name = reader.next<std::string>();
    std::int64_t* const number = numbers_.emplace_back(std::make_unique<std::int64_t>()).get();
    state_.numbers.emplace_back(std::move(name), number);
    call.state.add([number](ByteWriter& w) { w.put(*number); },
                   [number](ByteReader& r) { r.get(*number); });
  }
  for (auto left = reader.next<std::size_t>(); left > 0; --left) {
    auto name = reader.next<std::string>();
    const auto dtype = reader.next<DType>();
    const auto bytes = reader.next<std::string>();
    if (dtype != DType::kFloat32) throw std::runtime_error("a checkpoint of other than float32");
    Tensor& tensor = *floats_.emplace_back(
        std::make_unique<Tensor>(Shape(static_cast<std::int64_t>(bytes.size() / sizeof(float)))));
    state_.tensors.emplace_back(std::move(name), tensor);
    const Slice slice = tensor;
    call.state.add([slice](ByteWriter& w) { put_slice(w, slice); },
                   [slice](ByteReader& r) { get_slice(r, slice); });
  }
}

Stage make_stage(Invocation& call, ByteReader& reader) {
  StageCut cut;
  reader.get(cut.begin);
  reader.get(cut.end);
  reader.get(cut.stage);
  reader.get(cut.stages);
  cut.input = next_shape(reader);
  cut.output = next_shape(reader);
  std::vector<Batch> batches;
  for (auto left = reader.next<int>(); left > 0; --left) batches.push_back(next_batch(reader));
  const auto step = reader.next<std::int64_t>();

  // A model whose recipes are the layers that came, in the order in which Stage makes its own.
  Model model(static_cast<std::size_t>(cut.end));
  const auto layers = reader.next<std::int64_t>();
  if (layers != cut.end - cut.begin) throw std::runtime_error("a stage with other layers");
  for (std::int64_t i = cut.begin; i < cut.end; ++i) {
    auto name = reader.next<std::string>();
    const auto made = std::make_shared<std::unique_ptr<Layer>>(make_layer(call, reader, name));
    model[static_cast<std::size_t>(i)] = {std::move(name), [made] { return std::move(*made); }};
  }
  const auto number = reader.next<std::size_t>();
  Stage stage(model, cut);
  stage.load(std::move(batches), step);
  stage.on_turn = [number](Turn turn, int micro_batch) {
    ByteWriter announcement;
    announcement.put(number);
    announcement.put(static_cast<std::uint8_t>(turn));
    announcement.put(micro_batch);
    request(Kind::kTurn, announcement);
  };
  return stage;
}

}  // namespace rankbox::seal
