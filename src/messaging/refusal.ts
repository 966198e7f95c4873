import { LinkError } from './errors.ts'

/** `AeMR`, little-endian. */
const MAGIC = 0x524d6541
const FULL = 1

/**
 * Why a listener turned a client away, as the private data of the rejection, little-endian:
 *
 * ```
 * 0 magic | 4 1: full, 4 bytes | 8 connections that it lets in
 * ```
 */
const REFUSAL_BYTES = 12

/** The listener has as many connections as it lets in. */
export function encodeFull(connectionsMax: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(MAGIC, FULL, connectionsMax).buffer)
}

/** The error in the private data of a rejection; undefined if it is not this room's. */
export function refusalOf(data: Uint8Array): LinkError | undefined {
  if (data.length < REFUSAL_BYTES) return undefined
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(4, true) !== FULL) return undefined
  return fullError(view.getUint32(8, true))
}

export function fullError(connectionsMax: number): LinkError {
  return new LinkError(
    'full',
    'none',
    `the listener has its maximum of ${connectionsMax} connections; try again later, or raise connectionsMax there`,
  )
}
