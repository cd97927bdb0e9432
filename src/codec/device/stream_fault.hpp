// Why a decoder on a device refuses a stream; shared with the host, which makes errors of it.
#pragma once

namespace tamis::codec {

enum StreamFault : unsigned {
  kStreamFine = 0,
  kStreamEnds = 1,        // it ends in the middle of a code
  kStreamLeftOver = 2,    // bits or bytes are left over at the end
  kStreamKind = 3,        // Rice: a segment kind that does not exist
  kStreamParameter = 4,   // Rice: a parameter that is too large for the codes
  kStreamGap = 5,         // Rice: a gap leads out of its segment
  kStreamWidth = 6,       // fixed width: a width that is 0 or too large for the codes
  kStreamSpareFlags = 7,  // fixed width: flags of groups that do not exist
  kStreamTooLong = 8,     // above kMostStreamBytes: positions have 32 bits
  kStreamRans = 9,        // rANS: anything else than a whole stream of these codes
};

/// Longer streams are refused by the device decoders.
inline constexpr unsigned kMostStreamBytes = 1u << 28;

}  // namespace tamis::codec
