/**
 * MurmurHash3 (x86, 32 bits; Austin Appleby, public domain), over bytes. Unsigned. Seeded per heap with a random
 * number, so that no outsider can choose keys that collide.
 */
export function hashBytes(bytes: Uint8Array, length: number, seed: number): number {
  let hash = seed
  const blocks = length & ~3
  for (let at = 0; at < blocks; at += 4) {
    const word = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
    hash ^= scramble(word)
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  let tail = 0
  for (let at = length - 1; at >= blocks; at -= 1) tail = (tail << 8) | bytes[at]!
  if (blocks < length) hash ^= scramble(tail)
  return finish(hash ^ length)
}

/**
 * The same of whole words, the last one filled up with zeros. It equals {@link hashBytes} of their bytes, which are in
 * this machine's order: little-endian, the only one supported.
 */
export function hashWords(words: Int32Array, lengthBytes: number, seed: number): number {
  let hash = seed
  const blocks = lengthBytes >>> 2
  for (let at = 0; at < blocks; at += 1) {
    hash ^= scramble(words[at]!)
    hash = (hash << 13) | (hash >>> 19)
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0
  }
  if ((lengthBytes & 3) !== 0) hash ^= scramble(words[blocks]!)
  return finish(hash ^ lengthBytes)
}

function scramble(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51)
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593)
}

function finish(value: number): number {
  let hash = value
  hash ^= hash >>> 16
  hash = Math.imul(hash, 0x85ebca6b)
  hash ^= hash >>> 13
  hash = Math.imul(hash, 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** FNV-1a over UTF-16 units, 32 bits. Source: Fowler, Noll and Vo. */
export function hashText(text: string, basis = 0x811c9dc5): number {
  let hash = basis
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}
