import type { NameEntry } from './name-entry.ts'

/** The body of a map's entry: where the parts of its table are, 64 bits each, all there before the map is. */
export function writeTables(tables: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(tables.length * 8)
  const view = new DataView(bytes.buffer)
  for (const [at, table] of tables.entries()) view.setFloat64(at * 8, table, true)
  return bytes
}

/** Where the parts of a map's table are. Its first parameter says how many there are. */
export function tablesOf({ parameters, body }: NameEntry): number[] {
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  return Array.from({ length: parameters[0] as number }, (_, at) => view.getFloat64(at * 8, true))
}
