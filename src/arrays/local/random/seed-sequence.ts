import { ArrayError } from '../../errors.ts'

const POOL_WORDS = 4
const INITIAL_A = 0x43b0d7e5
const MULTIPLIER_A = 0x931e8875
const INITIAL_B = 0x8b51f9dd
const MULTIPLIER_B = 0x58f38ded
const MIX_LEFT = 0xca01f9dd
const MIX_RIGHT = 0x4973f715

/**
 * Words of a key from a seed of any size, so that seeds that differ in one bit give keys that have nothing in common.
 * NumPy's `SeedSequence` defines it, after O'Neill's `seed_seq_fe` ("Developing a seed_seq alternative", 2015).
 */
export function seedWords(seed: number | bigint, count: number): Uint32Array {
  const pool = mixedPool(wordsOf(seed))
  const words = new Uint32Array(count)
  let hash = INITIAL_B
  for (let index = 0; index < count; index += 1) {
    let word = pool[index % POOL_WORDS]! ^ hash
    hash = Math.imul(hash, MULTIPLIER_B)
    word = Math.imul(word, hash)
    words[index] = word ^ (word >>> 16)
  }
  return words
}

/** The 32-bit words of an integer that is not negative, the lowest first; `count` of them where it is given. */
export function wordsOf(value: number | bigint, count?: number, name = 'seed'): Uint32Array {
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    throw new ArrayError('VALUE', `${name} is ${value}; it must be an integer, as a bigint if it is above 2**53`)
  let rest = BigInt(value)
  if (rest < 0n) throw new ArrayError('VALUE', `${name} is ${value}; it must not be negative`)
  const words: number[] = []
  for (; rest > 0n; rest >>= 32n) words.push(Number(rest & 0xffffffffn))
  if (count !== undefined && words.length > count)
    throw new ArrayError('VALUE', `${name} is ${value}; it must be below 2**${32 * count}`)
  const result = new Uint32Array(count ?? Math.max(1, words.length))
  result.set(words)
  return result
}

function mixedPool(entropy: Uint32Array): Uint32Array {
  const pool = new Uint32Array(POOL_WORDS)
  let hash = INITIAL_A
  const hashed = (value: number): number => {
    let word = value ^ hash
    hash = Math.imul(hash, MULTIPLIER_A)
    word = Math.imul(word, hash)
    return word ^ (word >>> 16)
  }
  const mixInto = (target: number, value: number): void => {
    const word = Math.imul(MIX_LEFT, pool[target]!) - Math.imul(MIX_RIGHT, hashed(value))
    pool[target] = word ^ ((word >>> 0) >>> 16)
  }
  for (let index = 0; index < POOL_WORDS; index += 1) pool[index] = hashed(entropy[index] ?? 0)
  for (let source = 0; source < POOL_WORDS; source += 1)
    for (let target = 0; target < POOL_WORDS; target += 1) if (source !== target) mixInto(target, pool[source]!)
  for (let source = POOL_WORDS; source < entropy.length; source += 1)
    for (let target = 0; target < POOL_WORDS; target += 1) mixInto(target, entropy[source]!)
  return pool
}
