/** Why a caller ends a stream whose reply it cannot live with (RFC 6581, 8): errors of the layer LLP. */
export const MpaFault = { InsufficientIrd: 0x2006, NoMatchingReady: 0x2007 } as const
export type MpaFault = (typeof MpaFault)[keyof typeof MpaFault]

/** Length, DDP and RDMAP control: untagged, last, both of version 1, opcode TERMINATE. */
const HEADER_BYTES = 20
const LENGTH = 22
const CONTROL = 0x4147
const TERMINATE_QUEUE = 2
const CRC_BYTES = 4
const CASTAGNOLI = 0x82f63b78

/** The FPDU of a TERMINATE, the first and last message of its end. No header of the other end is to blame. */
export function encodeTerminate(fault: MpaFault, crc: boolean): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + 4 + CRC_BYTES)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, LENGTH)
  view.setUint16(2, CONTROL)
  view.setUint32(8, TERMINATE_QUEUE)
  view.setUint32(12, 1)
  view.setUint16(HEADER_BYTES, fault)
  if (crc) view.setUint32(bytes.length - CRC_BYTES, crc32c(bytes.subarray(0, -CRC_BYTES)), true)
  return bytes
}

/** RFC 3720, appendix B.4. */
function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? CASTAGNOLI : 0)
  }
  return ~crc >>> 0
}
