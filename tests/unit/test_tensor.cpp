// Extents, views and Tensor, with the awkward sizes first: zero, one, negative, overflowing.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"
#include "tamis/tensor.hpp"

namespace tamis {
namespace {

constexpr std::int64_t kBig = std::int64_t{1} << 40;

TEST(Extents, DefaultIsScalar) {
  const Extents scalar;
  EXPECT_EQ(scalar.rank(), 0);
  EXPECT_EQ(scalar.element_count(), 1);
  EXPECT_EQ(scalar.to_string(), "scalar");
  EXPECT_EQ(scalar.contiguous_strides().rank(), 0);
}

TEST(Extents, CountsAndStrides) {
  const Extents shape{2, 3, 5};
  EXPECT_EQ(shape.element_count(), 30);
  EXPECT_EQ(shape.to_string(), "2x3x5");
  EXPECT_EQ(shape.contiguous_strides(), (Extents{15, 5, 1}));
  EXPECT_EQ(Extents(std::vector<std::int64_t>{2, 3, 5}), shape);
  EXPECT_EQ(Extents::filled(2, 7), (Extents{7, 7}));
}

TEST(Extents, EqualityComparesRank) {
  EXPECT_FALSE((Extents{1, 2}) == (Extents{1, 2, 0}));
  EXPECT_FALSE((Extents{1, 2}) == (Extents{1, 3}));
}

TEST(Extents, SixteenDimensionsAreTheLimit) {
  EXPECT_EQ(Extents::filled(kMaxRank, 2).element_count(), 65536);
  EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "rank 17", Extents::filled(kMaxRank + 1, 1));
  EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "rank 20", Extents(std::vector<std::int64_t>(20, 1)));
  EXPECT_TAMIS_ERROR(ErrorCode::kUnsupported, "rank 17",
                     Extents{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "-1", Extents::filled(-1, 1));
}

TEST(Extents, NegativeSizeIsRefusedEvenNextToZero) {
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "0x-1", (Extents{0, -1}).element_count());
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "-1x0", (Extents{-1, 0}).element_count());
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "-3", (Extents{-3, -3}).contiguous_strides());
}

TEST(Extents, CountUpToTwoToTheSixtieth) {
  EXPECT_EQ((Extents{kBig, 1 << 20}).element_count(), std::int64_t{1} << 60);
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "2^60", (Extents{kBig, 1 << 21}).element_count());
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "2^60", (Extents{kBig, kBig}).element_count());
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "2^60",
                     Extents::filled(kMaxRank, INT64_MAX).element_count());
}

TEST(Extents, ZeroMakesEmptyHoweverLargeTheRest) {
  EXPECT_EQ((Extents{0}).element_count(), 0);
  EXPECT_EQ((Extents{kBig, kBig, 0}).element_count(), 0);
  EXPECT_EQ((Extents{0, kBig, kBig}).element_count(), 0);
  EXPECT_NO_THROW(static_cast<void>((Extents{0, INT64_MAX, INT64_MAX}).contiguous_strides()));
}

TEST(View, MakeViewIsContiguous) {
  const std::vector<float> data(24);
  const ConstTensorView view = make_view(data.data(), {2, 3, 4});
  EXPECT_EQ(view.data, data.data());
  EXPECT_EQ(view.dtype, DType::kF32);
  EXPECT_TRUE(view.is_contiguous());
  std::vector<double> doubles(6);
  EXPECT_EQ(make_view(doubles.data(), {6}).dtype, DType::kF64);
  EXPECT_EQ(make_view(static_cast<const void*>(data.data()), DType::kF64, {3}).dtype, DType::kF64);
}

TEST(View, ContiguityIgnoresStridesOfUnitDimensions) {
  const float value = 0;
  ConstTensorView view{&value, DType::kF32, {1, 5, 1}, {99, 1, -7}};
  EXPECT_TRUE(view.is_contiguous());
  view.strides = {99, 2, 1};
  EXPECT_FALSE(view.is_contiguous());
  view.strides = {1, 1};
  EXPECT_FALSE(view.is_contiguous());
}

TEST(View, ReversedBroadcastAndEmpty) {
  const float value = 0;
  EXPECT_FALSE((ConstTensorView{&value, DType::kF32, {4}, {-1}}).is_contiguous());
  EXPECT_FALSE((ConstTensorView{&value, DType::kF32, {4}, {0}}).is_contiguous());
  EXPECT_TRUE((ConstTensorView{nullptr, DType::kF32, {4, 0}, {-3, 17}}).is_contiguous());
}

TEST(Tensor, IsAlignedAndWritable) {
  Tensor tensor(DType::kF64, {3, 7});
  EXPECT_EQ(tensor.element_count(), 21);
  EXPECT_EQ(tensor.size_bytes(), 168);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0u);
  static_cast<double*>(tensor.data())[20] = 1.5;
  EXPECT_EQ(static_cast<const double*>(std::as_const(tensor).view().data)[20], 1.5);
  EXPECT_TRUE(tensor.view().is_contiguous());
}

TEST(Tensor, EmptyAndDefault) {
  const Tensor nothing;
  EXPECT_EQ(nothing.element_count(), 0);
  const Tensor empty(DType::kF32, {5, 0, 3});
  EXPECT_EQ(empty.size_bytes(), 0);
  EXPECT_EQ(empty.shape(), (Extents{5, 0, 3}));
}

TEST(Tensor, MoveLeavesTheSourceEmpty) {
  Tensor first(DType::kF32, {4});
  void* const data = first.data();
  Tensor second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(first.element_count(), 0);  // NOLINT(bugprone-use-after-move): the state is specified
  Tensor third(DType::kF64, {2});
  third = std::move(second);
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.shape(), (Extents{4}));
  EXPECT_EQ(third.dtype(), DType::kF32);
}

TEST(Tensor, AllocationThatCannotBeHadIsAnError) {
  EXPECT_TAMIS_ERROR(ErrorCode::kOutOfMemory, "f64", Tensor(DType::kF64, {std::int64_t{1} << 60}));
  EXPECT_TAMIS_ERROR(ErrorCode::kOutOfMemory, "allocate",
                     Tensor(DType::kF32, {std::int64_t{1} << 59}));
  EXPECT_TAMIS_ERROR(ErrorCode::kInvalidArgument, "2^60", Tensor(DType::kF32, {kBig, kBig}));
}

TEST(DTypeTest, SizesAndNames) {
  EXPECT_EQ(dtype_bytes(DType::kF32), 4);
  EXPECT_EQ(dtype_bytes(DType::kF64), 8);
  EXPECT_STREQ(dtype_name(DType::kF32), "f32");
  EXPECT_STREQ(dtype_name(DType::kF64), "f64");
}

}  // namespace
}  // namespace tamis
