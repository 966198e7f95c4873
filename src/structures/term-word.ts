const LOW = 0xffffffffn

/** A term of an election in the upper 32 bits of a word, and in the lower ones what a memory keeps with the term. */
export function termWord(term: number, low: number): bigint {
  return (BigInt(term >>> 0) << 32n) | BigInt(low >>> 0)
}

export function termOf(word: bigint): number {
  return Number((word >> 32n) & LOW)
}

/** What is kept with the term, with a sign. */
export function lowOf(word: bigint): number {
  return Number(word & LOW) | 0
}
