// Reuse of what depends on the shape alone.
#include "reduce/device_session.hpp"

namespace tamis::reduce {

DeviceSamples& DeviceSession::samples(const Extents& folded, Mode mode) {
  if (!samples_ || !samples_->suit(folded, mode)) {
    samples_ = std::make_unique<DeviceSamples>(folded, mode);
  }
  return *samples_;
}

DeviceCodecs& DeviceSession::codecs(const Grid& grid, int value_bytes, int lattice_bytes,
                                    Mode mode) {
  const CodecKey key{grid.extents(), grid.plan(), value_bytes, lattice_bytes, mode};
  if (!codecs_ || !(codec_key_ == key)) {
    codecs_ =
        std::make_unique<DeviceCodecs>(grid, value_bytes, lattice_bytes, mode, stream().device());
    tables_.reset(codecs_->field.table_bytes() + codecs_->anchors.table_bytes());
    codecs_->field.take_tables(tables_);
    codecs_->anchors.take_tables(tables_);
    codec_key_ = key;
  }
  return *codecs_;
}

}  // namespace tamis::reduce
