/**
 * The tcp device's wire, read a second time: MPA (RFC 5044, 6581), DDP (RFC 5041), RDMAP (RFC 5040, 7306), and what
 * both ends announce in their private data. Tests write with it what no device would.
 */

export const Op = {
  Write: 0,
  ReadRequest: 1,
  ReadResponse: 2,
  Send: 3,
  SendInvalidate: 4,
  SendSolicited: 5,
  SendInvalidateSolicited: 6,
  Terminate: 7,
  Immediate: 8,
  ImmediateSolicited: 9,
  AtomicRequest: 10,
  AtomicResponse: 11,
  SendImmediate: 12,
  SendImmediateSolicited: 13,
  Control: 14,
} as const

export const Queue = { Send: 0, Request: 1, Terminate: 2, Atomic: 3, Control: 4 } as const
export const ControlKind = { Proof: 1, Taken: 2, Wait: 3, Resume: 4, Refuse: 5 } as const

/** A segment. What is left out is what a right one of its kind has. */
export interface Segment {
  readonly op: number
  readonly tagged?: boolean
  readonly last?: boolean
  readonly stag?: number
  readonly offset?: number | bigint
  readonly queue?: number
  readonly message?: number
  readonly payload?: Uint8Array
  readonly ddpVersion?: number
  readonly rdmapVersion?: number
  /** What the length field says instead of the truth. */
  readonly length?: number
}

const LENGTH_BYTES = 2
const CRC_BYTES = 4
const NOTHING = new Uint8Array(0)

/** The whole FPDU. */
export function encodeSegment(segment: Segment, crc: boolean): Buffer {
  const { op, tagged = op === Op.Write || op === Op.ReadResponse, last = true, stag = 0, offset = 0 } = segment
  const { queue = 0, message = 1, payload = NOTHING, ddpVersion = 1, rdmapVersion = 1 } = segment
  const headerBytes = tagged ? 14 : 18
  const unpadded = LENGTH_BYTES + headerBytes + payload.length
  const out = Buffer.alloc(unpadded + paddingOf(unpadded) + CRC_BYTES)
  out.writeUInt16BE((segment.length ?? headerBytes + payload.length) & 0xffff, 0)
  out[2] = (tagged ? 0x80 : 0) | (last ? 0x40 : 0) | ddpVersion
  out[3] = (rdmapVersion << 6) | op
  out.writeUInt32BE(stag >>> 0, 4)
  if (tagged) out.writeBigUInt64BE(BigInt.asUintN(64, BigInt(offset)), 8)
  else {
    out.writeUInt32BE(queue, 8)
    out.writeUInt32BE(message, 12)
    out.writeUInt32BE(Number(BigInt.asUintN(32, BigInt(offset))), 16)
  }
  out.set(payload, LENGTH_BYTES + headerBytes)
  if (crc) out.writeUInt32LE(crc32c(out.subarray(0, -CRC_BYTES)), out.length - CRC_BYTES)
  return out
}

function paddingOf(bytes: number): number {
  return (4 - (bytes % 4)) % 4
}

/** What the first segment in the bytes says, and how many of them it has; undefined if some are missing. */
export function decodeSegment(bytes: Buffer): { readonly segment: Segment; readonly bytes: number } | undefined {
  if (bytes.length < LENGTH_BYTES) return undefined
  const unpadded = LENGTH_BYTES + bytes.readUInt16BE(0)
  const whole = unpadded + paddingOf(unpadded) + CRC_BYTES
  if (bytes.length < whole) return undefined
  const control = bytes[2]!
  const tagged = (control & 0x80) !== 0
  const segment = {
    op: bytes[3]! & 0x0f,
    tagged,
    last: (control & 0x40) !== 0,
    stag: bytes.readUInt32BE(4),
    offset: tagged ? bytes.readBigUInt64BE(8) : bytes.readUInt32BE(16),
    payload: bytes.subarray(LENGTH_BYTES + (tagged ? 14 : 18), unpadded),
    ...(tagged ? {} : { queue: bytes.readUInt32BE(8), message: bytes.readUInt32BE(12) }),
  }
  return { segment, bytes: whole }
}

export function control(kind: number, count: number, value: bigint = 0n): Segment {
  const payload = Buffer.alloc(16)
  payload.writeUInt32BE(kind, 0)
  payload.writeUInt32BE(count >>> 0, 4)
  payload.writeBigUInt64BE(value, 8)
  return { op: Op.Control, queue: Queue.Control, payload }
}

export interface Remote {
  readonly address: number | bigint
  readonly key: number
}

export function readRequest(sink: number, length: number, { address, key }: Remote): Segment {
  const payload = Buffer.alloc(28)
  payload.writeUInt32BE(sink, 0)
  payload.writeUInt32BE(length, 12)
  payload.writeUInt32BE(key, 16)
  payload.writeBigUInt64BE(BigInt(address), 20)
  return { op: Op.ReadRequest, queue: Queue.Request, payload }
}

export function fetchAdd(identifier: number, { address, key }: Remote, add: bigint): Segment {
  const payload = Buffer.alloc(52)
  payload.writeUInt32BE(identifier, 4)
  payload.writeUInt32BE(key, 8)
  payload.writeBigUInt64BE(BigInt(address), 12)
  payload.writeBigUInt64BE(add, 20)
  return { op: Op.AtomicRequest, queue: Queue.Request, payload }
}

// ---- connecting

interface Greeting {
  readonly source: number
  readonly destination: number
  readonly psn: number
  readonly gid: bigint
  readonly nonce: bigint
  readonly proof: bigint
}

const GREETING_BYTES = 52
const DATA_OFFSET = 24
export const HANDSHAKE_BYTES: number = DATA_OFFSET + GREETING_BYTES
const MAGIC = 0x41655431
const FLAG_CRC = 0x4000
const FLAG_ENHANCED = 0x1000
const REVISION = 2
/** READs and atomics that a peer of the tests takes. */
const DEPTH = 16

/** An MPA request. */
export function encodeRequest(greeting: Greeting, crc: boolean, ird: number = DEPTH): Buffer {
  const out = Buffer.alloc(HANDSHAKE_BYTES)
  out.write('MPA ID Req Frame', 'latin1')
  out.writeUInt16BE(FLAG_ENHANCED | REVISION | (crc ? FLAG_CRC : 0), 16)
  out.writeUInt16BE(4 + GREETING_BYTES, 18)
  out.writeUInt16BE(ird, 20)
  out.writeUInt16BE(DEPTH, 22)
  const data = out.subarray(DATA_OFFSET)
  data.writeUInt32BE(MAGIC, 0)
  data.writeUInt32BE(greeting.source, 4)
  data.writeUInt32BE(greeting.destination, 8)
  data.writeUInt32BE(greeting.psn, 12)
  data.writeBigUInt64BE(greeting.gid >> 64n, 16)
  data.writeBigUInt64BE(greeting.gid & MASK, 24)
  data.writeBigUInt64BE(greeting.nonce, 32)
  data.writeBigUInt64BE(greeting.proof, 40)
  return out
}

/** An MPA reply; undefined where it is none. */
export function decodeReply(bytes: Buffer): Greeting | undefined {
  if (bytes.toString('latin1', 0, 16) !== 'MPA ID Rep Frame') return undefined
  const data = bytes.subarray(DATA_OFFSET)
  return {
    source: data.readUInt32BE(4),
    destination: data.readUInt32BE(8),
    psn: data.readUInt32BE(12),
    gid: (data.readBigUInt64BE(16) << 64n) | data.readBigUInt64BE(24),
    nonce: data.readBigUInt64BE(32),
    proof: data.readBigUInt64BE(40),
  }
}

interface Proven {
  readonly caller: number
  readonly responder: number
  readonly nonce: bigint
  readonly reply: bigint
}

/** What proves that an end knows the key (16 bytes; zeros without a secret). `role`: C for the caller, else R. */
export function proofOf(key: Buffer, role: 'C' | 'R', { caller, responder, nonce, reply }: Proven): bigint {
  const text = Buffer.alloc(32)
  text.write(role, 'latin1')
  text.writeUInt32BE(caller, 4)
  text.writeUInt32BE(responder, 8)
  text.writeBigUInt64BE(nonce, 16)
  text.writeBigUInt64BE(reply, 24)
  return sipHash(key, text)
}

// ---- checks

const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index
  for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ (value & 1 ? 0x82f63b78 : 0)
  return value
})

/** RFC 3720, appendix B.4. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (crc >>> 8) ^ crcTable[(crc ^ byte) & 0xff]!
  return ~crc >>> 0
}

const MASK = 0xffff_ffff_ffff_ffffn

/** SipHash-2-4 (Aumasson, Bernstein 2012). */
function sipHash(key: Buffer, text: Buffer): bigint {
  const [low, high] = [key.readBigUInt64LE(0), key.readBigUInt64LE(8)]
  let [v0, v1] = [low ^ 0x736f6d6570736575n, high ^ 0x646f72616e646f6dn]
  let [v2, v3] = [low ^ 0x6c7967656e657261n, high ^ 0x7465646279746573n]
  const rotate = (value: bigint, bits: bigint): bigint => ((value << bits) | (value >> (64n - bits))) & MASK
  const rounds = (count: number): void => {
    for (let round = 0; round < count; round += 1) {
      v0 = (v0 + v1) & MASK
      v1 = rotate(v1, 13n) ^ v0
      v0 = rotate(v0, 32n)
      v2 = (v2 + v3) & MASK
      v3 = rotate(v3, 16n) ^ v2
      v0 = (v0 + v3) & MASK
      v3 = rotate(v3, 21n) ^ v0
      v2 = (v2 + v1) & MASK
      v1 = rotate(v1, 17n) ^ v2
      v2 = rotate(v2, 32n)
    }
  }
  const padded = Buffer.alloc(8 * Math.floor(text.length / 8 + 1))
  text.copy(padded)
  padded[padded.length - 1] = text.length & 0xff
  for (let at = 0; at < padded.length; at += 8) {
    const word = padded.readBigUInt64LE(at)
    v3 ^= word
    rounds(2)
    v0 ^= word
  }
  v2 ^= 0xffn
  rounds(4)
  return v0 ^ v1 ^ v2 ^ v3
}
