import { ADVICE_BYTES } from './journal-layout.ts'

/**
 * What a rank saw of pages that bounce, at the end of a region's map in its journal, as JSON of one writer.
 *
 * ```
 * byte  0   how often it was written, times two; odd while it is being written    Int32
 *       4   length of the text, in bytes                                          Int32
 *       8   the text
 * ```
 */
const HEAD_BYTES = 8

/** Write `records` into the last bytes of `map`; as many of them as there is room for. */
export function writeAdvice(map: ArrayBuffer, records: readonly unknown[]): void {
  const at = map.byteLength - ADVICE_BYTES
  const head = new Int32Array(map, at, 2)
  const text = fitting(records)
  Atomics.add(head, 0, 1)
  new Uint8Array(map, at + HEAD_BYTES, text.length).set(text)
  Atomics.store(head, 1, text.length)
  Atomics.add(head, 0, 1)
}

/**
 * The records; undefined where they were written meanwhile, or what stands there is none. `read` gives bytes from an
 * offset of the area.
 */
export function readAdvice(read: (length: number, offset: number) => Uint8Array): readonly unknown[] | undefined {
  const head = (): DataView => new DataView(read(HEAD_BYTES, 0).buffer)
  const before = head()
  const [changes, length] = [before.getInt32(0, true), before.getInt32(4, true)]
  if (changes === 0) return []
  if (changes % 2 !== 0 || length < 0 || length > ADVICE_BYTES - HEAD_BYTES) return undefined
  const text = Buffer.from(read(length, HEAD_BYTES)).toString()
  if (head().getInt32(0, true) !== changes) return undefined
  try {
    const records: unknown = JSON.parse(text)
    return Array.isArray(records) ? (records as unknown[]) : undefined
  } catch {
    return undefined
  }
}

function fitting(records: readonly unknown[]): Buffer {
  const text = Buffer.from(JSON.stringify(records))
  return text.length <= ADVICE_BYTES - HEAD_BYTES ? text : fitting(records.slice(0, -1))
}
