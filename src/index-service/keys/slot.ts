/** Keys are spread over this many slots, as in a Redis Cluster. */
export const SLOT_COUNT = 16384
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** The CRC of each byte alone. Polynomial x^16 + x^12 + x^5 + 1. */
const table: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  return crc
})

/**
 * The slot of a key, from 0 to 16383: its CRC-16 (XMODEM) modulo 16384, as Redis Cluster's specification has it.
 *
 * If the key has a hash tag, only that counts: so `{user:7}:name` and `{user:7}:mail` are in one slot. It is what lies
 * between the first `{` and the first `}` after that. If they are neighbours, the whole key counts.
 */
export function slotOf(key: Uint8Array): number {
  const opening = key.indexOf(OPENING_BRACE)
  const closing = opening < 0 ? -1 : key.indexOf(CLOSING_BRACE, opening + 1)
  return (closing > opening + 1 ? crc16(key, opening + 1, closing) : crc16(key, 0, key.length)) % SLOT_COUNT
}

function crc16(bytes: Uint8Array, start: number, end: number): number {
  let crc = 0
  for (let at = start; at < end; at += 1) crc = ((crc << 8) & 0xffff) ^ table[(crc >>> 8) ^ bytes[at]!]!
  return crc
}
