// Shared memory of a block that makes trial encodings: the host asks for it, the kernel asserts
// that it is enough.
#pragma once

namespace tamis::device {

/// Numbers of a tile of so many axes.
template <int kAxes>
struct TrialSizes {
  static constexpr int kSide = kAxes == 1 ? 4096 : kAxes == 2 ? 64 : 16;
  template <int kBase, int kExponent>
  static constexpr int kPower = kExponent == 0   ? 1
                                : kExponent == 1 ? kBase
                                : kExponent == 2 ? kBase* kBase
                                                 : kBase* kBase* kBase;
  // With the padding of rows.
  static constexpr int kNodes = (kSide + 4) * kPower<kSide + 1, kAxes - 1>;
  // Codes in whole segments of 512, as their coders read them.
  static constexpr int kCoarse = (kPower<kSide / 2 - 1, kAxes> + 511) / 512 * 512;
  static constexpr int kFine = (kPower<kSide - 1, kAxes> + 511) / 512 * 512;

  static constexpr int kCoderBytes = 6144;
  template <int kLatticeBytes>
  static constexpr int kBytes = (kNodes + kCoarse + kFine) * kLatticeBytes + kCoderBytes;

  // Of rANS: numbers of a table of all contexts, and a block that fills one.
  template <int kLatticeBytes>
  static constexpr int kTableSize = 64 * (16 + 2 * (8 * kLatticeBytes - 4));
  template <int kLatticeBytes>
  static constexpr int kLearnBytes = kTableSize<kLatticeBytes> * 4 + kNodes* kLatticeBytes;
};

}  // namespace tamis::device
