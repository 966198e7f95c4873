import { GraphError } from './graph-error.ts'

const newline = 0x0a
const space = 0x20
const zero = 0x30
/** `offset lex_filenum ss_type w_cnt`: eight, two, one and two characters, one space apart. */
const wordCountAt = 14
const firstWordAt = 17

/**
 * One `data.*` file of the WordNet database, in the format of wndb(5WN):
 * ```
 * synset_offset lex_filenum ss_type w_cnt word lex_id [word lex_id…] p_cnt [ptr…] [frames…] | gloss
 * ptr = pointer_symbol synset_offset pos source/target
 * ```
 * Lines that begin with two spaces are the licence. `w_cnt` is hexadecimal, `p_cnt` decimal. Every pointer counts once
 * for each line it is on, both lexical pointers (between words) and semantic ones. An adjective satellite (`ss_type` s)
 * is a synset like any other and is in data.adj.
 */
export class WordNetFile {
  readonly #bytes: Buffer
  readonly #path: string
  readonly #offsets: Uint32Array

  constructor(path: string, bytes: Buffer) {
    this.#path = path
    this.#bytes = bytes
    this.#offsets = findSynsets(bytes)
    for (const offset of this.#offsets) {
      if (this.#readNumber(offset, 8, 10) !== offset)
        throw this.#malformed(offset, 'a synset that is not at the offset it gives')
    }
  }

  get synsetCount(): number {
    return this.#offsets.length
  }

  /** The index of the synset at a byte offset, or -1. */
  indexOf(offset: number): number {
    let low = 0
    let high = this.#offsets.length - 1
    while (low <= high) {
      const middle = (low + high) >>> 1
      const found = this.#offsets[middle]!
      if (found === offset) return middle
      if (found < offset) low = middle + 1
      else high = middle - 1
    }
    return -1
  }

  /**
   * Visits every pointer of every synset, in file order. It passes the index of the synset in this file, the letter of
   * the target's part of speech, and the target's byte offset.
   */
  eachPointer(visit: (from: number, partOfSpeech: number, offset: number) => void): void {
    for (let from = 0; from < this.#offsets.length; from += 1) {
      let at = this.#skipWords(this.#offsets[from]!)
      const count = this.#readNumber(at, 3, 10)
      at += 4
      for (let i = 0; i < count; i += 1) {
        at = this.#next(at)
        visit(from, this.#bytes[at + 9]!, this.#readNumber(at, 8, 10))
        at += 16
      }
    }
  }

  /** The first word of a synset, with spaces and without the syntactic marker of adjectives, `beautiful(p)`. */
  firstWord(index: number): string {
    const start = this.#offsets[index]! + firstWordAt
    const word = this.#bytes.toString('latin1', start, this.#bytes.indexOf(space, start))
    return word.replace(/\((a|p|ip)\)$/, '').replaceAll('_', ' ')
  }

  gloss(index: number): string {
    const start = this.#offsets[index]!
    const line = this.#bytes.toString('latin1', start, this.#bytes.indexOf(newline, start))
    const bar = line.indexOf(' | ')
    return bar === -1 ? '' : line.slice(bar + 3).trim()
  }

  #skipWords(offset: number): number {
    const words = this.#readNumber(offset + wordCountAt, 2, 16)
    let at = offset + firstWordAt
    for (let i = 0; i < 2 * words; i += 1) at = this.#next(at)
    return at
  }

  /** Where the next field starts. */
  #next(at: number): number {
    return this.#bytes.indexOf(space, at) + 1
  }

  #readNumber(at: number, digits: number, radix: number): number {
    let value = 0
    for (let i = at; i < at + digits; i += 1) {
      const digit = digitOf(this.#bytes[i])
      if (digit < 0 || digit >= radix) throw this.#malformed(at, 'a number that is not one')
      value = value * radix + digit
    }
    return value
  }

  #malformed(offset: number, what: string): GraphError {
    const text = this.#bytes.toString('latin1', offset, offset + 60)
    return new GraphError(`not a WordNet data file, ${what} at byte ${offset}`, { file: this.#path, text })
  }
}

/** Byte offsets of the lines that hold synsets. */
function findSynsets(bytes: Buffer): Uint32Array {
  const offsets: number[] = []
  for (let start = 0; start < bytes.length; ) {
    if (bytes[start] !== space) offsets.push(start)
    const end = bytes.indexOf(newline, start)
    start = end === -1 ? bytes.length : end + 1
  }
  return Uint32Array.from(offsets)
}

function digitOf(byte: number | undefined): number {
  if (byte === undefined || byte < zero) return -1
  if (byte < zero + 10) return byte - zero
  const letter = (byte | 0x20) - 0x61
  return letter >= 0 && letter < 6 ? letter + 10 : -1
}
