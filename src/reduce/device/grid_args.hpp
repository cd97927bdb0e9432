// What the kernels of the grid codec are told about a grid: plain numbers that host and device lay
// out alike. Axes of the folded field go from slowest to fastest; `k` counts the active ones.
#pragma once

namespace tamis::device {

inline constexpr int kMostAxes = 5;
inline constexpr int kMostActive = 3;
inline constexpr int kMostStreams = kMostActive + 1;
inline constexpr int kTilesPerBundle = 8;
inline constexpr int kBundlesPerChunk = 16;  // at most

/// First tile of a bundle, and how many it has.
struct BundleRange {
  long long first_tile;
  int tiles;
  int chunk;
};
/// First bundle of a chunk, its first tile, and how many of both it has.
struct ChunkRange {
  long long first_bundle;
  long long first_tile;
  int bundles;
  int tiles;
};

/// Where a tile is; worked out once for each. Active axes go from the fastest.
struct TileEntry {
  long long origin;  // linear index of its first node
  int batch;         // linear index among the batch axes
  int at[kMostActive];
  short nodes[kMostActive];  // far boundary included
  short unused;
};

/// A grid of nodes, its tiles, and where its intermediate values lie.
///
/// Planes: for each active axis k the nodes whose coordinate along it is a multiple of the tile
/// side, as an array [batch][tile coordinate along k][the other active axes]; they hold all
/// boundaries of cells. With one active axis that is the array of anchors.
struct GridArgs {
  long long extents[kMostAxes];
  long long strides[kMostAxes];
  long long tiles[kMostAxes];
  long long batch_stride[kMostAxes];  // 0 for active axes
  int rank;
  int axes;  // active ones
  int active[kMostActive];
  int order[kMostActive];  // from least to most preferred
  long long tile_count;
  long long bundle_count;
  long long chunk_count;
  long long plane_at[kMostActive];  // its first element among all planes
  long long plane_batch[kMostActive];
  long long plane_tile[kMostActive];
  long long plane_stride[kMostActive][kMostActive];  // of axis j in the plane of k

  // Codes of stream s of bundle b begin at codes_at[s] + b * code_room[s].
  long long codes_at[kMostStreams];
  long long code_room[kMostStreams];

  const BundleRange* bundles;
  const ChunkRange* chunks;
  TileEntry* entries;  // of the tiles; made by list_tiles
};

/// Number map and step of the codes (docs/format.md, section 7).
struct LatticeArgs {
  double offset;
  double unit;
  double inverse;  // 1 / unit
  long long step;
  unsigned long long reciprocal;  // 2^w / step, rounded down, w = bits of a lattice integer
  float inverse_step;             // of contexts
  int kind;                       // MapKind
  // Encoder: values from low to high certainly have a lattice value (none: low > high), and an
  // error below `safe_bound` before rounding to the value's type certainly keeps the bound.
  double low;
  double high;
  double safe_bound;
  const double* palette;
  long long palette_size;
};

/// Coders of blobs.
enum : int { kNoCoder = 0, kRiceCoder = 1, kFixedWidthCoder = 2, kRansCoder = 3 };

enum : int { kMapAffine = 1, kMapLattice = 2, kMapPalette = 3, kMapOrdered = 4, kMapLogarithm = 5 };
enum : int { kCheckAbsolute = 0, kCheckPointwise = 1, kCheckExact = 2 };

/// A point that is stored verbatim.
struct PatchEntry {
  long long index;
  unsigned long long bits;
};

/// What encoder and decoder report; all zero at the start.
struct CodecReport {
  unsigned long long patches;  // found, also those that had no room
  unsigned long long fault;    // decoder: what was found corrupt; blob or bundle << 8, kind
  unsigned long long data_bytes;
  unsigned long long index_bytes;
};

struct CellArgs {
  GridArgs grid;
  LatticeArgs lattice;
  const void* source;               // encoder: values, or lattice integers of an anchor grid
  void* target;                     // decoder, likewise
  void* planes;                     // lattice integers
  const void* anchors;              // reconstructed, one a tile
  const unsigned char* predictors;  // one a tile
  unsigned* cell_at;  // [tile][2^axes]: first code of each cell in its bundle's stream;
                      // entry 0 is that of the interior's fine points
  unsigned* counts;   // [stream][bundle]: codes
  void* codes;
  unsigned char* contexts;  // of the codes, where they are wanted
  int check;
  double bound;
  PatchEntry* patches;
  long long patch_room;
  CodecReport* report;
  const unsigned char* coders;  // decoder, where rANS is possible: of blobs, as in BlobArgs
};

/// Between the codes of a grid and the bytes of its blobs.
struct BlobArgs {
  GridArgs grid;
  const void* codes;
  const unsigned* counts;           // [stream][bundle]
  const unsigned char* predictors;  // encoder
  unsigned char* predictors_out;    // decoder
  int coder;                        // encoder; rANS: what `coders` says
  int framed;                       // each blob behind its size as a varint, without an index

  // Streams of bundles on their way to the blobs: words_at[s] + b * word_room[s].
  unsigned* words;
  long long words_at[kMostStreams];
  long long word_room[kMostStreams];
  unsigned* stream_sizes;  // [stream][bundle], in bytes

  // Blobs in file order.
  unsigned long long* blob_sizes;
  unsigned long long* blob_at;  // from the first byte of the data; one more for the end
  unsigned* checksums;

  unsigned char* data;  // encoder: where blobs go; decoder: where they lie
  long long data_room;
  unsigned char* index;

  unsigned char* coders;          // [stream][chunk]: of each blob
  unsigned long long* stream_at;  // decoder: [stream][bundle], place in the data

  // Models of rANS blobs, [stream][chunk]; null where there can be none.
  unsigned* models;  // model_room words each: symbols, or tables laid out
  long long model_room;
  unsigned* model_sizes;  // words of them
  unsigned* table_sizes;  // bytes of the tables
  unsigned char* tables;  // encoder: table_room bytes each
  long long table_room;
  unsigned long long* table_at;  // decoder: place in the data
  unsigned* rice_sizes;          // encoder: [stream][bundle], bytes that Rice would take

  CodecReport* report;
};

/// What is wrong with the first corrupt part that a decoder met.
enum : int {
  kFaultChecksum = 1,
  kFaultPredictors = 2,
  kFaultBlobHead = 3,
  kFaultTables = 4,    // of a rANS blob
  kFaultNoModels = 5,  // a rANS blob, and no memory for its model
  kFaultStream = 16,   // plus the number of the stream decoder's fault
};

/// A sample tile with its far faces, or the first quarter of one, by linear index of its origin.
/// Axes go from slowest to fastest, active ones only.
struct TrialTile {
  long long origin;
  int nodes[kMostActive];
  int slice;  // cut along the slowest axis, where its last node counts as a far boundary
};
/// A way to cut and predict: the tiles that are cut so, from slowest to fastest active axis their
/// strides, and `order` as in GridArgs.
struct TrialWay {
  long long strides[kMostActive];
  int order[kMostActive];
  int predictor;
  int first_tile;
  int tile_count;
  int first_price;
};
/// What a tile costs in a way.
struct TrialPrice {
  unsigned long long bits;
  unsigned long long codes;
};
/// Trial encodings of closed tiles: those of some ways, or all tiles of a grid in all ways.
struct TrialArgs {
  LatticeArgs lattice;
  const void* source;
  int coder;  // as in BlobArgs
  int way_count;
  const TrialWay* ways;
  const TrialTile* tiles;
  TrialPrice* prices;
  unsigned* counts;        // rANS, [way][context][token]: of tokens
  const unsigned* tables;  // likewise: bits of a code with this token, in 1/65536
  // For a choice: the cheapest of the ways for each tile of the grid.
  GridArgs grid;
  int sliced;  // whether tiles are cut
  unsigned char* predictors;
};

}  // namespace tamis::device
