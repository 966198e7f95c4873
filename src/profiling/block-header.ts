/**
 * The header of every block in a profiling area. A block is one or more sheets of 256 bytes, with one writing thread
 * and any number of readers.
 *
 * ```
 * byte  0  magic     Int32   'AEPF'; written last, so that no half-made block is seen; 0 once it is free
 *       4  kind      Int32   1 counters, 2 histogram, 3 names
 *       8  version   Int32
 *      12  layout    Int32   id of the layout
 *      16  sheets    Int32   length in sheets
 *      20  slots     Int32   how many Float64 follow
 *      24  thread    Int32   thread id of the writer
 *      28  serial    Int32   tells this block from all earlier ones at its place
 *      32  role      Int32   0 one object; 1 the rest: objects that ended or found no place
 *      36  label     Int32   length of the label in bytes
 *      40  (zero)
 *      64  label     UTF-8   which object: the name of a method, the number of a queue pair
 *     128  slots     Float64 …
 * ```
 *
 * A counter is a Float64 (exact to 2^53), because the writer adds to it with a plain store. An aligned 8-byte store is
 * not torn on x64 or arm64.
 */
const BLOCK_MAGIC = 0x46504541
const BLOCK_VERSION = 2
const BLOCK_HEADER_BYTES = 128
const LABEL_BYTES_MAX = 64
export const SHEET_BYTES = 256

const LABEL_OFFSET = 64

export const BlockKind = { Counters: 1, Histogram: 2, Names: 3 } as const

export const BlockRole = { One: 0, Rest: 1 } as const

const Word = {
  Magic: 0,
  Kind: 1,
  Version: 2,
  Layout: 3,
  Sheets: 4,
  Slots: 5,
  Thread: 6,
  Serial: 7,
  Role: 8,
  Label: 9,
} as const

/** A header's fields. */
export interface BlockHeader {
  readonly kind: number
  readonly layout: number
  readonly sheets: number
  readonly slots: number
  readonly thread: number
  readonly serial: number
  readonly role: number
  readonly label: string
}

/** How many sheets a block of `slots` needs. */
export function sheetsFor(slots: number): number {
  return Math.ceil((BLOCK_HEADER_BYTES + slots * 8) / SHEET_BYTES)
}

/** Make the block visible to readers. */
export function writeHeader(buffer: ArrayBufferLike, offsetBytes: number, header: BlockHeader): void {
  const words = wordsAt(buffer, offsetBytes)
  const label = Buffer.from(header.label)
  words[Word.Kind] = header.kind
  words[Word.Version] = BLOCK_VERSION
  words[Word.Layout] = header.layout
  words[Word.Sheets] = header.sheets
  words[Word.Slots] = header.slots
  words[Word.Thread] = header.thread
  words[Word.Serial] = header.serial
  words[Word.Role] = header.role
  words[Word.Label] = label.length
  new Uint8Array(buffer, offsetBytes + LABEL_OFFSET, LABEL_BYTES_MAX).set(label)
  Atomics.store(words, Word.Magic, BLOCK_MAGIC)
}

/**
 * Return the header at `offsetBytes`, or undefined if no block of this version starts there. Its fields are checked
 * against `sheetsLeft`.
 */
export function readHeader(buffer: ArrayBufferLike, offsetBytes: number, sheetsLeft: number): BlockHeader | undefined {
  const words = wordsAt(buffer, offsetBytes)
  if (Atomics.load(words, Word.Magic) !== BLOCK_MAGIC || words[Word.Version] !== BLOCK_VERSION) return undefined
  const at = (index: number) => words[index]!
  const header = {
    kind: at(Word.Kind),
    layout: at(Word.Layout),
    sheets: at(Word.Sheets),
    slots: at(Word.Slots),
    thread: at(Word.Thread),
    serial: at(Word.Serial),
    role: at(Word.Role),
  }
  const labelBytes = at(Word.Label)
  const plausible =
    header.slots >= 0 &&
    header.sheets >= sheetsFor(header.slots) &&
    header.sheets <= sheetsLeft &&
    labelBytes >= 0 &&
    labelBytes <= LABEL_BYTES_MAX
  return plausible ? { ...header, label: readLabel(buffer, offsetBytes, labelBytes) } : undefined
}

/** True if the block that was read as `header` is still there, so that what was copied in the meantime was its own. */
export function isStillThere(buffer: ArrayBufferLike, offsetBytes: number, header: BlockHeader): boolean {
  const words = wordsAt(buffer, offsetBytes)
  return Atomics.load(words, Word.Magic) === BLOCK_MAGIC && Atomics.load(words, Word.Serial) === header.serial
}

/** Erase the header: readers no longer see a block here. */
export function eraseHeader(buffer: ArrayBufferLike, offsetBytes: number): void {
  Atomics.store(wordsAt(buffer, offsetBytes), Word.Magic, 0)
}

/** The slots of the block at `offsetBytes`. */
export function slotsAt(buffer: ArrayBufferLike, offsetBytes: number, slots: number): Float64Array {
  return new Float64Array(buffer, offsetBytes + BLOCK_HEADER_BYTES, slots)
}

/**
 * Shorten `label` to what a block holds: the start of a longer label, and a digest that tells it from others that start
 * alike.
 */
export function shortLabel(label: string): string {
  const bytes = Buffer.from(label)
  if (bytes.length <= LABEL_BYTES_MAX) return label
  const digest = `~${(hashOf(label) >>> 0).toString(16).padStart(8, '0')}`
  let kept = bytes.subarray(0, LABEL_BYTES_MAX - digest.length)
  // Not in the middle of a character.
  while ((bytes[kept.length]! & 0xc0) === 0x80) kept = kept.subarray(0, -1)
  return kept.toString() + digest
}

/** FNV-1a over the bytes of `text`. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193)
  return hash
}

/** Copied first: decoding memory that others write to is not safe. */
function readLabel(buffer: ArrayBufferLike, offsetBytes: number, labelBytes: number): string {
  return Buffer.from(new Uint8Array(buffer, offsetBytes + LABEL_OFFSET, labelBytes)).toString()
}

function wordsAt(buffer: ArrayBufferLike, offsetBytes: number): Int32Array {
  return new Int32Array(buffer, offsetBytes, LABEL_OFFSET / 4)
}
