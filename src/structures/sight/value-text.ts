import { inspect } from 'node:util'
import { knownCodec } from '../values/codec-parameter.ts'
import type { BlockSight, HeapSight } from './heap-sight.ts'

/** Longer values are told by their length alone: decoding them would take long. */
const VALUE_BYTES_MAX = 4096
const TEXT_LENGTH_MAX = 200
const HEX_BYTES = 24

/** The name of the codec with this number. */
export function codecName(codec: number | undefined): string {
  return knownCodec(codec ?? 0)?.name ?? 'of your own'
}

/**
 * The value of `lengthBytes` bytes at `offset` of a block, in words. Undefined if it does not lie within the block, or
 * the block has changed meanwhile. A codec of the program's own is not known here: then it is the first bytes.
 */
export function valueText(
  heap: HeapSight,
  block: BlockSight,
  offset: number,
  lengthBytes: number,
  codec: number | undefined,
): string | undefined {
  if (lengthBytes < 0 || offset + lengthBytes > block.lengthBytes) return undefined
  const isShort = lengthBytes <= VALUE_BYTES_MAX
  const copied = heap.copy(block.offset + offset, isShort ? lengthBytes : HEX_BYTES)
  if (!heap.isStill(block)) return undefined
  const known = knownCodec(codec ?? 0)
  if (!isShort) return `${lengthBytes} bytes`
  try {
    if (known !== undefined) return textOf(known.decode(copied))
  } catch {
    // The bytes are not what the codec says.
  }
  return hexOf(copied)
}

/** A value on one line, of bounded length, with control characters escaped. */
export function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return hexOf(value)
  const text = inspect(value, {
    depth: 3,
    maxArrayLength: 16,
    maxStringLength: TEXT_LENGTH_MAX,
    breakLength: Number.POSITIVE_INFINITY,
    customInspect: false,
    getters: false,
  })
  return text.length <= TEXT_LENGTH_MAX ? text : `${text.slice(0, TEXT_LENGTH_MAX - 1)}…`
}

function hexOf(value: Uint8Array): string {
  const shown = Buffer.from(value.subarray(0, HEX_BYTES)).toString('hex')
  return `${value.length} bytes: ${shown}${value.length > HEX_BYTES ? '…' : ''}`
}
