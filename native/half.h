// Conversions between float and the 16-bit floating-point formats, rounding to nearest even.
#pragma once
#include <cstdint>
#include <cstring>

namespace rushlight {

inline uint32_t float_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

inline float float_from_bits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline float bfloat16_to_float(uint16_t bits) { return float_from_bits(uint32_t(bits) << 16); }

inline uint16_t float_to_bfloat16(float value) {
  uint32_t bits = float_bits(value);
  if ((bits & 0x7fffffff) > 0x7f800000) return uint16_t((bits >> 16) & 0x8000) | 0x7fc0;  // NaN
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline float half_to_float(uint16_t half) {
  const uint32_t sign = uint32_t(half & 0x8000) << 16;
  const uint32_t magnitude = half & 0x7fff;
  if (magnitude >= 0x7c00) return float_from_bits(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
  if (magnitude < 0x400) {  // zero or subnormal: a multiple of 2^-24
    return float_from_bits(sign | float_bits(float(magnitude) * 0x1p-24f));
  }
  return float_from_bits(sign | ((magnitude << 13) + (uint32_t(127 - 15) << 23)));
}

inline uint16_t float_to_half(float value) {
  const uint32_t bits = float_bits(value);
  const uint16_t sign = uint16_t((bits >> 16) & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) return sign | 0x7e00;   // NaN
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // rounds to infinity
  if (magnitude < 0x38800000) {                       // below 2^-14: a multiple of 2^-24, rounded by the addition
    return sign | uint16_t(float_bits(float_from_bits(magnitude) + 0.5f) - 0x3f000000);
  }
  const uint32_t odd = (magnitude >> 13) & 1;
  return sign | uint16_t((magnitude - (uint32_t(127 - 15) << 23) + 0xfff + odd) >> 13);
}

}  // namespace rushlight
