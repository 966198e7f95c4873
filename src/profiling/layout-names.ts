import type { CounterLayout } from './counter-layout.ts'

/** What a reader needs to know of a layout. */
export type LayoutNames = Pick<CounterLayout, 'name' | 'counters' | 'gauges' | 'labelled' | 'spread'>

/** Encode the names of a layout as the slots of a block: UTF-8, padded with zeros. */
export function encodeNames({ name, labelled, spread, counters, gauges }: CounterLayout): Float64Array<ArrayBuffer> {
  const text = Buffer.from(JSON.stringify([name, labelled, spread, counters, gauges]))
  const slots = new Float64Array(Math.ceil(text.length / 8))
  new Uint8Array(slots.buffer).set(text)
  return slots
}

/** Decode the slots of {@link encodeNames}; undefined for anything else. `slots` is a private copy. */
export function decodeNames(slots: Float64Array): LayoutNames | undefined {
  const bytes = Buffer.from(slots.buffer, slots.byteOffset, slots.byteLength)
  const end = bytes.indexOf(0)
  try {
    const decoded: unknown = JSON.parse(bytes.subarray(0, end < 0 ? bytes.length : end).toString())
    if (!Array.isArray(decoded)) return undefined
    const [name, labelled, spread, counters, gauges] = decoded as unknown[]
    if (typeof name !== 'string' || typeof labelled !== 'string' || typeof spread !== 'string') return undefined
    return areNames(counters) && areNames(gauges) ? { name, labelled, spread, counters, gauges } : undefined
  } catch {
    return undefined
  }
}

function areNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
