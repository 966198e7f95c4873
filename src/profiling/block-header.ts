/**
 * What every block in a profiling area begins with. A block is one or more sheets of 1 KiB; one thread writes it, anybody reads.
 *
 * ```
 * byte  0  magic     Int32   'AEPF'; written last, so that a block half made is not seen
 *       4  kind      Int32   1 counters, 2 histogram
 *       8  version   Int32
 *      12  layout    Int32   id of the counter layout, or of the histogram's name
 *      16  sheets    Int32   length in sheets
 *      20  slots     Int32   how many Float64 follow
 *      24  thread    Int32   thread id of the writer
 *      28  (zero)
 *      64  slots     Float64 …
 * ```
 *
 * A counter is a Float64 (exact to 2^53) because the writer adds to it with a plain store: an aligned 8-byte store is not torn on x64 or arm64.
 */
export const BLOCK_MAGIC = 0x46504541
export const BLOCK_VERSION = 1
export const BLOCK_HEADER_BYTES = 64
export const SHEET_BYTES = 1024

export const BlockKind = { Counters: 1, Histogram: 2 } as const

const Word = { Magic: 0, Kind: 1, Version: 2, Layout: 3, Sheets: 4, Slots: 5, Thread: 6 } as const

/** A header's fields. */
export interface BlockHeader {
  readonly kind: number
  readonly layout: number
  readonly sheets: number
  readonly slots: number
  readonly thread: number
}

/** How many sheets a block of `slots` needs. */
export function sheetsFor(slots: number): number {
  return Math.ceil((BLOCK_HEADER_BYTES + slots * 8) / SHEET_BYTES)
}

/** Make the block visible to readers. The slots must be zero. */
export function writeHeader(buffer: ArrayBufferLike, offsetBytes: number, header: BlockHeader): void {
  const words = new Int32Array(buffer, offsetBytes, BLOCK_HEADER_BYTES / 4)
  words[Word.Kind] = header.kind
  words[Word.Version] = BLOCK_VERSION
  words[Word.Layout] = header.layout
  words[Word.Sheets] = header.sheets
  words[Word.Slots] = header.slots
  words[Word.Thread] = header.thread
  Atomics.store(words, Word.Magic, BLOCK_MAGIC)
}

/** The header at `offsetBytes`, or undefined where no block of this version begins. What it says is checked against `sheetsLeft`. */
export function readHeader(buffer: ArrayBufferLike, offsetBytes: number, sheetsLeft: number): BlockHeader | undefined {
  const words = new Int32Array(buffer, offsetBytes, BLOCK_HEADER_BYTES / 4)
  if (Atomics.load(words, Word.Magic) !== BLOCK_MAGIC || words[Word.Version] !== BLOCK_VERSION) return undefined
  const at = (index: number) => words[index] as number
  const header = {
    kind: at(Word.Kind),
    layout: at(Word.Layout),
    sheets: at(Word.Sheets),
    slots: at(Word.Slots),
    thread: at(Word.Thread),
  }
  const plausible = header.slots >= 0 && header.sheets >= sheetsFor(header.slots) && header.sheets <= sheetsLeft
  return plausible ? header : undefined
}

/** The slots of the block at `offsetBytes`. */
export function slotsAt(buffer: ArrayBufferLike, offsetBytes: number, slots: number): Float64Array {
  return new Float64Array(buffer, offsetBytes + BLOCK_HEADER_BYTES, slots)
}
