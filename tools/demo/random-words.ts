/** State of a generator: four 32-bit words, not all zero. */
export type RandomState = Int32Array

/**
 * Four well-mixed words from a small seed, by splitmix32. Unmixed, nearby seeds would give related sequences of
 * xoshiro.
 *
 * Source: Steele, Lea and Flood, OOPSLA 2014, at 32 bits.
 */
export function seedRandom(seed: number): RandomState {
  const state = new Int32Array(4)
  let counter = seed | 0
  for (let i = 0; i < state.length; i += 1) {
    counter = (counter + 0x9e3779b9) | 0
    let word = counter
    word = Math.imul(word ^ (word >>> 16), 0x85ebca6b)
    word = Math.imul(word ^ (word >>> 13), 0xc2b2ae35)
    state[i] = word ^ (word >>> 16)
  }
  return state
}

/** The next 32 bits as an unsigned number, by xoshiro128** (Blackman and Vigna, ACM TOMS 47(4), 2021). */
export function nextRandom(state: RandomState): number {
  const s1 = state[1]!
  const product = Math.imul(s1, 5)
  const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0
  const shifted = s1 << 9
  const s2 = state[2]! ^ state[0]!
  const s3 = state[3]! ^ s1
  state[1] = s1 ^ s2
  state[0] = state[0]! ^ s3
  state[2] = s2 ^ shifted
  state[3] = (s3 << 11) | (s3 >>> 21)
  return result
}
