// Radix sort by bytes, the least significant first (D. Knuth, The Art of Computer Programming 3, 5.2.5), and the keys
// of floating-point numbers. Included in a namespace for each set of instructions.

// Sorts `count` keys, which lie in `keys`, into `to`: either `keys` itself or `other`, which has as much room.
template <class Key>
void radixSort(Key* keys, Key* other, Key* to, size_t count) {
  constexpr size_t digits = sizeof(Key);
  if (count < 64) {
    for (size_t i = 1; i < count; i++) {
      const Key key = keys[i];
      size_t at = i;
      for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
      keys[at] = key;
    }
  } else {
    size_t counts[digits][256] = {};
    for (size_t i = 0; i < count; i++)
      for (size_t digit = 0; digit < digits; digit++) counts[digit][keys[i] >> (8 * digit) & 255]++;
    for (size_t digit = 0; digit < digits; digit++) {
      size_t(&places)[256] = counts[digit];
      // A byte that is the same in all keys.
      if (places[keys[0] >> (8 * digit) & 255] == count) continue;
      size_t next = 0;
      for (size_t& place : places) {
        const size_t first = next;
        next += place;
        place = first;
      }
      for (size_t i = 0; i < count; i++) other[places[keys[i] >> (8 * digit) & 255]++] = keys[i];
      std::swap(keys, other);
    }
  }
  if (keys != to) __builtin_memcpy(to, keys, count * sizeof(Key));
}

template <class T>
size_t keysFrom(const T* values, KeyOf<T>* keys, size_t count, KeyOf<T> flip) {
  constexpr KeyOf<T> sign = KeyOf<T>{1} << (8 * sizeof(T) - 1);
  KeyOf<T> negativeZeros = 0;
  for (size_t i = 0; i < count; i++) {
    KeyOf<T> bits;
    __builtin_memcpy(&bits, values + i, sizeof bits);
    keys[i] = keyOf(values[i]) ^ flip;
    negativeZeros += bits == sign ? 1 : 0;
  }
  return negativeZeros;
}

template <class T>
void valuesFrom(const KeyOf<T>* keys, T* values, size_t count, KeyOf<T> flip) {
  for (size_t i = 0; i < count; i++) values[i] = valueOf<T>(keys[i] ^ flip);
}

void fillKeys(Kernels* table) {
  table->keys64 = {keysFrom<double>, valuesFrom<double>};
  table->keys32 = {keysFrom<float>, valuesFrom<float>};
}
