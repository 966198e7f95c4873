/** What replicas send each other, beside what they write into each other's memory. */
export const MessageType = {
  Forward: 1,
  AskIndex: 2,
  Index: 3,
  Snapshot: 4,
  Campaign: 5,
  Leave: 6,
  Durable: 7,
  Ask: 8,
  Granted: 9,
} as const

export const NOTHING: Uint8Array = new Uint8Array()
/** What a replica says of its leaving, if not that it leaves. */
export const LEAVES_NOT: Uint8Array = Uint8Array.of(0)
export const LEAVES_ONCE_REPLACED: Uint8Array = Uint8Array.of(1)

export function numbers(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer)
}

export function numberAt(bytes: Uint8Array, offset: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getFloat64(offset, true)
}
