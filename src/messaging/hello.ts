import { LinkError } from './errors.ts'
import { RING_BYTES_MAX, RING_BYTES_MIN } from './ring-record.ts'

/** What each end tells the other when they connect. */
export interface Hello {
  /** The address of the ring; the words of credit follow it, under the same key. */
  readonly address: number
  readonly key: number
  readonly ringBytes: number
  /** How many bytes of the other's ring this end uses at most, since it keeps a mirror of them. */
  readonly mirrorBytesMax: number
  /** How many WRITEs with an immediate this end has receives for at the start. */
  readonly receives: number
  /** The most that this number can become. */
  readonly receivesMax: number
}

/** `AeML`, little-endian. */
const MAGIC = 0x4c4d6541
const VERSION = 2

/**
 * As private data, little-endian:
 *
 * ```
 * 0 magic | 4 version, 2 bytes | 6 receives, 2 bytes | 8 address, 8 bytes | 16 key
 * 20 bytes of the ring, 21 of the largest mirror (each as a power of two, 1 byte) | 22 receives at most, 2 bytes
 * ```
 */
export const HELLO_BYTES = 24

export function encodeHello(hello: Hello): Uint8Array {
  const bytes = new Uint8Array(HELLO_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, true)
  view.setUint16(4, VERSION, true)
  view.setUint16(6, hello.receives, true)
  view.setFloat64(8, hello.address, true)
  view.setUint32(16, hello.key, true)
  bytes[20] = Math.log2(hello.ringBytes)
  bytes[21] = Math.log2(hello.mirrorBytesMax)
  view.setUint16(22, hello.receivesMax, true)
  return bytes
}

/** Decode a hello. Throws LinkError for what no end of this version sends. */
export function decodeHello(bytes: Uint8Array): Hello {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < HELLO_BYTES || view.getUint32(0, true) !== MAGIC)
    throw new LinkError('incompatible', 'none', 'the peer is not a messaging endpoint; check address and port')
  const version = view.getUint16(4, true)
  if (version !== VERSION)
    throw new LinkError(
      'incompatible',
      'none',
      `the peer speaks version ${version} and this end version ${VERSION}; install the same release of aether-dsm at both ends`,
    )
  const receives = view.getUint16(6, true)
  const address = view.getFloat64(8, true)
  const key = view.getUint32(16, true)
  const ringBytes = 2 ** bytes[20]!
  const mirrorBytesMax = 2 ** bytes[21]!
  const receivesMax = view.getUint16(22, true)
  const isPossible = receives >= 1 && receivesMax >= receives && Number.isSafeInteger(address) && address >= 0
  if (!isPossible || !isRingLength(ringBytes) || !isRingLength(mirrorBytesMax))
    throw new LinkError('incompatible', 'none', 'the peer describes an impossible ring')
  return { address, key, ringBytes, mirrorBytesMax, receives, receivesMax }
}

/** True for a power of two that is longer than the shortest ring, and whose messages fit the length field. */
export function isRingLength(bytes: number): boolean {
  return Number.isInteger(bytes) && bytes >= RING_BYTES_MIN && bytes <= RING_BYTES_MAX && (bytes & (bytes - 1)) === 0
}
