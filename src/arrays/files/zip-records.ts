/**
 * Archives as PKWARE's APPNOTE 6.3 lays them out, as far as .npz needs. Entries are stored or deflated; sizes have 64
 * bits where 32 are too few.
 *
 * ```
 *   local header, data | local header, data | … | central directory | [its end, 64 bits] | its end
 * ```
 */
export const LOCAL = 0x04034b50
const CENTRAL = 0x02014b50
export const END = 0x06054b50
export const END_64 = 0x06064b50
export const LOCATOR_64 = 0x07064b50
export const STORED = 0
export const DEFLATED = 8
export const FULL_16 = 0xffff
const FULL_32 = 0xffffffff
export const LOCAL_BYTES = 30
const CENTRAL_BYTES = 46
export const END_BYTES = 22
export const END_64_BYTES = 56
export const LOCATOR_64_BYTES = 20
/** Version 4.5 of the format has 64-bit sizes. */
const VERSION = 45
/** 1 January 1980, the first date there is: the same arrays make the same archive. */
const DATE = 0x21
const UTF_8 = 0x800

export interface ZipEntry {
  readonly name: string
  readonly method: number
  readonly checksum: number
  readonly packedBytes: number
  readonly bytes: number
  readonly start: number
}

/** The values that do not fit 32 bits stand in an extra field, in the order of the header. */
function wideField(values: readonly number[]): Buffer {
  const wide = values.filter((value) => value >= FULL_32)
  if (wide.length === 0) return Buffer.alloc(0)
  const field = Buffer.alloc(4 + 8 * wide.length)
  field.writeUInt16LE(1, 0)
  field.writeUInt16LE(8 * wide.length, 2)
  for (const [index, value] of wide.entries()) field.writeBigUInt64LE(BigInt(value), 4 + 8 * index)
  return field
}

/** What both headers of an entry have in common: from the version to the lengths of name and extra field. */
function writeCommon(header: Buffer, at: number, entry: ZipEntry, nameBytes: number, extraBytes: number): void {
  header.writeUInt16LE(VERSION, at)
  header.writeUInt16LE(UTF_8, at + 2)
  header.writeUInt16LE(entry.method, at + 4)
  header.writeUInt16LE(DATE, at + 8)
  header.writeUInt32LE(entry.checksum, at + 10)
  header.writeUInt32LE(Math.min(entry.packedBytes, FULL_32), at + 14)
  header.writeUInt32LE(Math.min(entry.bytes, FULL_32), at + 18)
  header.writeUInt16LE(nameBytes, at + 22)
  header.writeUInt16LE(extraBytes, at + 24)
}

export function localHeader(entry: ZipEntry): Buffer {
  const name = Buffer.from(entry.name)
  // A local header has both sizes in its extra field, or none.
  const isWide = entry.bytes >= FULL_32 || entry.packedBytes >= FULL_32
  const sizes = isWide ? { bytes: FULL_32, packedBytes: FULL_32 } : {}
  const extra = Buffer.alloc(isWide ? 20 : 0)
  if (isWide) {
    extra.writeUInt16LE(1, 0)
    extra.writeUInt16LE(16, 2)
    extra.writeBigUInt64LE(BigInt(entry.bytes), 4)
    extra.writeBigUInt64LE(BigInt(entry.packedBytes), 12)
  }
  const header = Buffer.alloc(LOCAL_BYTES)
  header.writeUInt32LE(LOCAL, 0)
  writeCommon(header, 4, { ...entry, ...sizes }, name.length, extra.length)
  return Buffer.concat([header, name, extra])
}

export function centralHeader(entry: ZipEntry): Buffer {
  const name = Buffer.from(entry.name)
  const extra = wideField([entry.bytes, entry.packedBytes, entry.start])
  const header = Buffer.alloc(CENTRAL_BYTES)
  header.writeUInt32LE(CENTRAL, 0)
  header.writeUInt16LE(VERSION, 4)
  writeCommon(header, 6, entry, name.length, extra.length)
  header.writeUInt32LE(Math.min(entry.start, FULL_32), 42)
  return Buffer.concat([header, name, extra])
}

export function directoryEnd(count: number, bytes: number, start: number): Buffer {
  const end = Buffer.alloc(END_BYTES)
  end.writeUInt32LE(END, 0)
  end.writeUInt16LE(Math.min(count, FULL_16), 8)
  end.writeUInt16LE(Math.min(count, FULL_16), 10)
  end.writeUInt32LE(Math.min(bytes, FULL_32), 12)
  end.writeUInt32LE(Math.min(start, FULL_32), 16)
  if (count < FULL_16 && bytes < FULL_32 && start < FULL_32) return end
  const wide = Buffer.alloc(END_64_BYTES + LOCATOR_64_BYTES)
  wide.writeUInt32LE(END_64, 0)
  wide.writeBigUInt64LE(BigInt(END_64_BYTES - 12), 4)
  wide.writeUInt16LE(VERSION, 12)
  wide.writeUInt16LE(VERSION, 14)
  wide.writeBigUInt64LE(BigInt(count), 24)
  wide.writeBigUInt64LE(BigInt(count), 32)
  wide.writeBigUInt64LE(BigInt(bytes), 40)
  wide.writeBigUInt64LE(BigInt(start), 48)
  wide.writeUInt32LE(LOCATOR_64, END_64_BYTES)
  wide.writeBigUInt64LE(BigInt(start + bytes), END_64_BYTES + 8)
  wide.writeUInt32LE(1, END_64_BYTES + 16)
  return Buffer.concat([wide, end])
}

/** The entry at a place of the central directory, and the place of the next; undefined if no entry is there. */
export function centralEntry(
  directory: Buffer,
  at: number,
): { readonly entry: ZipEntry; readonly next: number } | undefined {
  if (at + CENTRAL_BYTES > directory.length || directory.readUInt32LE(at) !== CENTRAL) return undefined
  const nameEnd = at + CENTRAL_BYTES + directory.readUInt16LE(at + 28)
  const extraEnd = nameEnd + directory.readUInt16LE(at + 30)
  const next = extraEnd + directory.readUInt16LE(at + 32)
  if (next > directory.length) return undefined
  const wide = wideReader(directory.subarray(nameEnd, extraEnd))
  // In the order in which the extra field has them.
  const bytes = wide(directory.readUInt32LE(at + 24))
  const packedBytes = wide(directory.readUInt32LE(at + 20))
  const start = wide(directory.readUInt32LE(at + 42))
  const entry = {
    name: directory.toString('utf8', at + CENTRAL_BYTES, nameEnd),
    method: directory.readUInt16LE(at + 10),
    checksum: directory.readUInt32LE(at + 16),
    packedBytes,
    bytes,
    start,
  }
  return { entry, next }
}

/** Takes the next value of the extra field with 64-bit sizes for each that is all ones. */
function wideReader(extra: Buffer): (value: number) => number {
  let at = 0
  while (at + 4 <= extra.length && extra.readUInt16LE(at) !== 1) at += 4 + extra.readUInt16LE(at + 2)
  at += 4
  return (value) => {
    if (value !== FULL_32 || at + 8 > extra.length) return value
    at += 8
    return Number(extra.readBigUInt64LE(at - 8))
  }
}
