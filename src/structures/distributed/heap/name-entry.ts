import { type BlockName, bytesOfClass } from './block-word.ts'
import type { HomeMemory } from './home-memory.ts'

/**
 * The block of a named structure. All but the body stays as it was made.
 *
 * ```
 *  0  tag   4  kind   8  length of the name   16  six parameters, Float64   64  name, 64 B   128  body
 * ```
 */
const Offset = { Tag: 0, Kind: 4, NameLength: 8, Parameters: 16, Name: 64, Body: 128 } as const
const PARAMETERS = 6
/** More than the longest body that is read from an entry. */
const READ_MAX = 16_384

/** What a block says of a structure. */
export interface NameEntry {
  readonly kind: number
  readonly name: string
  readonly parameters: readonly number[]
  /** As far as it was read. */
  readonly body: Uint8Array
}

/** Where the body of a structure begins, from its block. */
export const BODY_OFFSET: number = Offset.Body

function entryBytes({ sizeClass }: Pick<BlockName, 'sizeClass'>): number {
  return Math.min(READ_MAX, bytesOfClass(sizeClass))
}

/** What the block at a home says. Undefined where it is no entry. */
export async function readEntryAt(memory: HomeMemory, block: BlockName): Promise<NameEntry | undefined> {
  return readEntry((await memory.read(block.offset, entryBytes(block))).bytes)
}

function readEntry(bytes: Uint8Array): NameEntry | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const length = view.getUint32(Offset.NameLength, true)
  if (length < 1 || length > Offset.Body - Offset.Name) return undefined
  return {
    kind: view.getUint32(Offset.Kind, true),
    name: Buffer.from(bytes.subarray(Offset.Name, Offset.Name + length)).toString(),
    parameters: Array.from({ length: PARAMETERS }, (_, at) => view.getFloat64(Offset.Parameters + at * 8, true)),
    body: bytes.subarray(Offset.Body),
  }
}

export function writeEntry(
  tag: number,
  kind: number,
  name: Uint8Array,
  parameters: readonly number[],
  body: Uint8Array,
): Uint8Array {
  const bytes = new Uint8Array(Offset.Body + body.length)
  const view = new DataView(bytes.buffer)
  view.setUint32(Offset.Tag, tag, true)
  view.setUint32(Offset.Kind, kind, true)
  view.setUint32(Offset.NameLength, name.length, true)
  for (const [at, value] of parameters.entries()) view.setFloat64(Offset.Parameters + at * 8, value, true)
  bytes.set(name, Offset.Name)
  bytes.set(body, Offset.Body)
  return bytes
}
