// What one look at a field finds, as integers that atomic operations bring together: written by the
// kernel field_tally, read by the host. All zeros say that nothing was seen, so it begins as zeros.
#pragma once

namespace tamis::device {

/// Ranks rise with the value: the bits of positive floats with the top bit set, those of negative
/// ones inverted, as unsigned integers of the float's size. "Mirrored" numbers are inverted, all 64
/// bits of them, so that the lowest wins where the highest is kept.
struct FieldTally {
  unsigned long long low_mirrored;  // rank of the lowest finite, unmasked value; 0: none
  unsigned long long high;          // rank of the highest; 0: none
  unsigned long long nan;           // unmasked
  unsigned long long infinite;      // unmasked
  unsigned long long masked;
  unsigned long long masked_special;      // NaN or infinite; not in the counts above
  unsigned long long zero;                // 1: there is one among the unmasked, of any sign
  unsigned long long negative;            // 1: there is a sign bit among the unmasked, NaN included
  unsigned long long first_nan_mirrored;  // index of the field's first NaN, masked or not; 0: none
  unsigned long long first_nan_bits;
  unsigned long long blocks_done;
};

}  // namespace tamis::device
