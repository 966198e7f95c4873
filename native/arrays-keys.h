// Elements as unsigned keys that compare as they do.
#pragma once
#include <cstdint>
#include <type_traits>

namespace aether {

template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

// Every NaN is the greatest key, and -0 is 0.
template <class T>
inline __attribute__((always_inline)) KeyOf<T> keyOf(T value) {
  using Key = KeyOf<T>;
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    Key bits;
    const T plain = value == 0 ? T{0} : value;
    __builtin_memcpy(&bits, &plain, sizeof bits);
    bits = value != value ? static_cast<Key>(~sign) : bits;
    return (bits & sign) != 0 ? ~bits : bits | sign;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<Key>(static_cast<std::make_signed_t<Key>>(value)) ^ sign;
  } else {
    return value;
  }
}

template <class T>
inline __attribute__((always_inline)) T valueOf(KeyOf<T> key) {
  using Key = KeyOf<T>;
  constexpr Key sign = Key{1} << (8 * sizeof(Key) - 1);
  if constexpr (std::is_floating_point_v<T>) {
    T value;
    // The greatest key stands for NaN.
    const Key bits = (key & sign) != 0 ? key ^ sign : ~key;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(key ^ sign);
  } else {
    return static_cast<T>(key);
  }
}

}  // namespace aether
