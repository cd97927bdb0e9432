// Passes the encoder's requests on to the parts that do the work on the host.
#include "reduce/host_backend.hpp"

#include "reduce/field_attempt.hpp"

namespace tamis::reduce {

template <typename T>
FieldScan<T> HostBackend<T>::scan(const CompressOptions& options) {
  return scan_field<T>(source_.pieces(), source_.count(), options);
}

template <typename T>
FieldMasks HostBackend<T>::masks(const FieldScan<T>& scan, bool logarithm) {
  return find_masks<T>(source_.pieces(), count(), scan, logarithm);
}

template <typename T>
Design HostBackend<T>::design(const FieldScan<T>& scan, const PointCheck& check,
                              const FieldMasks& masks, const CompressOptions& options) {
  return design_for(source_, scan, check, masks, options);
}

template <typename T>
EncodeOutcome HostBackend<T>::encode(ContainerWriter& writer, const EncodeRequest& request) {
  return request.design.map.wide ? encode_as<std::int64_t>(writer, request)
                                 : encode_as<std::int32_t>(writer, request);
}

template <typename T>
template <typename I>
EncodeOutcome HostBackend<T>::encode_as(ContainerWriter& writer, const EncodeRequest& request) {
  Attempt<T, I> attempt(source_, request.options, request.check, request.design, request.masks);
  attempt.rows().set_patch_limit(request.patch_limit);
  attempt.rows().measure_errors(request.error_scale);
  EncodeOutcome outcome;
  outcome.complete = attempt.run(writer, outcome.patch_count);
  outcome.squared_errors = attempt.rows().squared_errors();
  return outcome;
}

template <typename T>
void HostBackend<T>::write_raw(ContainerWriter& writer) {
  writer.begin_section("raw");
  source_.pieces()([&](std::int64_t, std::int64_t count, const T* data) {
    writer.append(std::as_bytes(std::span<const T>(data, static_cast<std::size_t>(count))));
    return true;
  });
  writer.end_section();
}

template class HostBackend<float>;
template class HostBackend<double>;

}  // namespace tamis::reduce
