const POISON = 0xdb

/**
 * Bytes that show whether they belong together: a sum of all the others, their length, a few numbers, and filling up to
 * `lengthBytes`.
 */
export function stampedValue(fields: readonly number[], lengthBytes: number): Uint8Array {
  const words = new Int32Array(2 + Math.max(fields.length, Math.ceil(lengthBytes / 4)))
  words[1] = words.length
  words.set(fields, 2)
  const filling = (fields[0] ?? 0) * 0x9e37_79b1
  for (let at = 2 + fields.length; at < words.length; at += 1) words[at] = filling + at
  words[0] = sumOf(words)
  return new Uint8Array(words.buffer)
}

/** The first `count` numbers of a value; in words what is wrong where it is not whole. */
export function readStamped(value: Uint8Array, count: number): readonly number[] | string {
  if (value.length < 8 + 4 * count || value.length % 4 !== 0) return `a value of ${value.length} bytes is not whole`
  const words = new Int32Array(value.slice().buffer)
  if (words[0] === sumOf(words) && words[1] === words.length) return [...words.subarray(2, 2 + count)]
  const freed = value.filter((byte) => byte === POISON).length
  return `the sum of a value of ${value.length} bytes does not fit, ${freed} bytes of it are those of freed memory`
}

function sumOf(words: Int32Array): number {
  let sum = 0x811c_9dc5
  for (let at = 1; at < words.length; at += 1) sum = Math.imul(sum ^ words[at]!, 0x0100_0193)
  return sum | 0
}
