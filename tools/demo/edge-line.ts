const tab = 0x09
const carriageReturn = 0x0d
const space = 0x20
const hash = 0x23
const zero = 0x30
const nine = 0x39

/** What a line turned out to be. Anything else that `parse` returns is the reason why it is malformed. */
export const LineKind = { Edge: 'edge', Blank: 'blank' } as const

/**
 * Parser of one line of a SNAP edge list: `# comment`, nothing, or two integers apart by tabs or spaces.
 * Works on bytes and keeps its result in fields, so that a file of millions of lines makes no garbage.
 */
export class EdgeLine {
  from = 0
  to = 0
  /** The next byte to look at. */
  #at = 0
  #end = 0

  /** Parse `bytes[start … end)`, without its newline. Returns a `LineKind`, or what is wrong with the line. */
  parse(bytes: Uint8Array, start: number, end: number): string {
    this.#at = start
    this.#end = end
    this.#skipBlanks(bytes)
    if (this.#at === end || bytes[this.#at] === hash) return LineKind.Blank
    this.from = this.#readInteger(bytes)
    this.#skipBlanks(bytes)
    this.to = this.#readInteger(bytes)
    this.#skipBlanks(bytes)
    if (this.from < 0 || this.to < 0 || this.#at !== end) return 'expected two non-negative integers'
    if (this.from > Number.MAX_SAFE_INTEGER || this.to > Number.MAX_SAFE_INTEGER) return 'a vertex id above 2^53-1'
    return LineKind.Edge
  }

  #skipBlanks(bytes: Uint8Array): void {
    while (this.#at < this.#end) {
      const byte = bytes[this.#at]
      if (byte !== space && byte !== tab && byte !== carriageReturn) return
      this.#at += 1
    }
  }

  /** The digits from here as a number, or -1 where there is none. */
  #readInteger(bytes: Uint8Array): number {
    const start = this.#at
    let value = 0
    while (this.#at < this.#end) {
      const byte = bytes[this.#at]!
      if (byte < zero || byte > nine) break
      value = value * 10 + (byte - zero)
      this.#at += 1
    }
    return this.#at === start ? -1 : value
  }
}
