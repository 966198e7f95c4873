/**
 * The rank that wrote a page last, and how often it had been written then. A page that was never written is all zeros:
 * version 0, writer -1.
 */
export interface Stamp {
  readonly version: number
  readonly writer: number
}

/** Version, writer + 1, page + 1: then words that follow from these three and their own place. */
const HEAD_WORDS = 3

/** A page so written that each of its words tells whether it belongs to the others. */
export function writeStamp(words: Uint32Array, page: number, { version, writer }: Stamp): void {
  words[0] = version
  words[1] = writer + 1
  words[2] = page + 1
  for (let index = HEAD_WORDS; index < words.length; index += 1) words[index] = wordAt(index, page, version, writer)
}

/** The stamp of a page, or in words what is wrong with it: torn, of another page, or half empty. */
export function readStamp(words: Uint32Array, page: number): Stamp | string {
  const [version = 0, writerAfter = 0, pageAfter = 0] = words
  const writer = writerAfter - 1
  if (version === 0) {
    const index = words.findIndex((word) => word !== 0)
    return index < 0
      ? { version: 0, writer: -1 }
      : `it starts like a page that was never written, but word ${index} is not 0`
  }
  if (pageAfter !== page + 1) return `it has the bytes of page ${pageAfter - 1}`
  for (let index = HEAD_WORDS; index < words.length; index += 1)
    if (words[index] !== wordAt(index, page, version, writer))
      return `it begins as version ${version} of rank ${writer}, but word ${index} is of another`
  return { version, writer }
}

/** Unlike for any other page, version, writer or place, as far as 32 bits go. */
function wordAt(index: number, page: number, version: number, writer: number): number {
  let word = Math.imul(version, 0x9e37_79b1) ^ Math.imul(page + 1, 0x85eb_ca6b) ^ Math.imul(writer + 1, 0xc2b2_ae35)
  word = Math.imul(word ^ index ^ (word >>> 15), 0x2c1b_3c6d)
  return (word ^ (word >>> 13)) >>> 0
}
