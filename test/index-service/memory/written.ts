/** What the writer of the test writes: values that tell whether they are whole. */

export function keyOf(number: number): Uint8Array {
  return Buffer.from(`written ${number}`)
}

/** The `version`th value of a key: from 12 to 3,000 bytes. */
export function valueWritten(number: number, version: number): Uint8Array {
  const value = Buffer.alloc(12 + ((number * 7919 + version * 104_729) % 3000), (number + version) & 0xff)
  value.writeUInt32LE(number, 0)
  value.writeUInt32LE(version, 4)
  value.writeUInt32LE(value.length, 8)
  return value
}

/** Its version, if every byte of it is right. */
export function isWhole(number: number, bytes: Uint8Array): number | undefined {
  const version = Buffer.from(bytes).readUInt32LE(4)
  return Buffer.compare(bytes, valueWritten(number, version)) === 0 ? version : undefined
}
