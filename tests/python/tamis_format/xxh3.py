"""XXH3-64 with seed 0 and the default secret, in plain Python, quick enough for megabytes."""
import struct

M64 = (1 << 64) - 1
M32 = (1 << 32) - 1
PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
           0x27D4EB2F165667C5)
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
STRIPE = 64
STRIPES_PER_BLOCK = (len(SECRET) - STRIPE) // 8
MIN_SECRET = 136


def u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def fold(a, b):
    product = a * b
    return (product & M64) ^ (product >> 64)


def avalanche(h):
    h ^= h >> 37
    h = h * 0x165667919E3779F9 & M64
    return h ^ h >> 32


def avalanche64(h):
    h ^= h >> 33
    h = h * PRIME64[1] & M64
    h ^= h >> 29
    h = h * PRIME64[2] & M64
    return h ^ h >> 32


def rotate(h, count):
    return (h << count | h >> (64 - count)) & M64


def mix16(data, at, secret_at):
    return fold(u64(data, at) ^ u64(SECRET, secret_at),
                u64(data, at + 8) ^ u64(SECRET, secret_at + 8))


def hash_short(data):
    size = len(data)
    if size > 8:
        low = u64(data, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
        high = u64(data, size - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche((size + swapped + high + fold(low, high)) & M64)
    if size >= 4:
        h = (u32(data, size - 4) + (u32(data, 0) << 32)) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        h ^= rotate(h, 49) ^ rotate(h, 24)
        h = h * 0x9FB21C651E98DF25 & M64
        h ^= (h >> 35) + size
        h = h * 0x9FB21C651E98DF25 & M64
        return h ^ h >> 28
    if size > 0:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche64(combined ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    return avalanche64(u64(SECRET, 56) ^ u64(SECRET, 64))


def hash_middle(data):
    size = len(data)
    h = size * PRIME64[0]
    if size <= 128:
        for pair in reversed(range((size + 31) // 32)):
            h += mix16(data, 16 * pair, 32 * pair)
            h += mix16(data, size - 16 * (pair + 1), 32 * pair + 16)
        return avalanche(h & M64)
    for i in range(8):
        h += mix16(data, 16 * i, 16 * i)
    h = avalanche(h & M64)
    for i in range(8, size // 16):
        h += mix16(data, 16 * i, 16 * (i - 8) + 3)
    h += mix16(data, size - 16, MIN_SECRET - 17)
    return avalanche(h & M64)


LANES = struct.Struct("<8Q")
KEYS = [LANES.unpack_from(SECRET, 8 * i) for i in range(STRIPES_PER_BLOCK + 1)]
LAST_KEY = LANES.unpack_from(SECRET, len(SECRET) - STRIPE - 7)


def accumulate(lanes, values, keys):
    for i in range(8):
        value = values[i]
        key = value ^ keys[i]
        lanes[i ^ 1] += value
        lanes[i] = (lanes[i] + (key & M32) * (key >> 32)) & M64


def hash_long(data):
    size = len(data)
    lanes = [PRIME32[2], PRIME64[0], PRIME64[1], PRIME64[2], PRIME64[3], PRIME32[1], PRIME64[4],
             PRIME32[0]]
    for stripe in range((size - 1) // STRIPE):
        accumulate(lanes, LANES.unpack_from(data, STRIPE * stripe),
                   KEYS[stripe % STRIPES_PER_BLOCK])
        if (stripe + 1) % STRIPES_PER_BLOCK == 0:
            for i in range(8):
                lane = lanes[i] & M64
                lanes[i] = (lane ^ lane >> 47 ^ KEYS[-1][i]) * PRIME32[0] & M64
    accumulate(lanes, LANES.unpack_from(data, size - STRIPE), LAST_KEY)
    h = size * PRIME64[0]
    for i in range(4):
        h += fold((lanes[2 * i] & M64) ^ u64(SECRET, 11 + 16 * i),
                  (lanes[2 * i + 1] & M64) ^ u64(SECRET, 19 + 16 * i))
    return avalanche(h & M64)


def xxh3_64(data):
    data = bytes(data)
    if len(data) <= 16:
        return hash_short(data)
    return hash_middle(data) if len(data) <= 240 else hash_long(data)
