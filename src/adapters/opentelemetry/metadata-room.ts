import { METADATA_BYTES_MAX, type Metadata } from '../../rpc/index.ts'

/**
 * A call's metadata with the propagator's fields added one by one, as long as they fit: tracing must not cause a call
 * to be refused. The trace identifier comes first; baggage, which may hold thousands of bytes, comes last.
 */
export function withinMetadata(metadata: Metadata, added: Readonly<Record<string, string>>): Metadata {
  const all = { ...metadata, ...added }
  if (fits(all)) return all
  let some: Metadata = metadata
  const shortestFirst = Object.entries(added).sort(([, one], [, other]) => one.length - other.length)
  for (const [name, value] of shortestFirst) {
    const more = { ...some, [name]: value }
    if (fits(more)) some = more
  }
  return some
}

/** A UTF-16 unit takes at most three bytes of UTF-8, and a control character six in JSON. */
const UNIT_BYTES_MAX = 6
/** Quotes, colon, comma. */
const ENTRY_BYTES = 6

function fits(metadata: Metadata): boolean {
  let units = 0
  for (const [name, value] of Object.entries(metadata)) units += name.length + value.length + ENTRY_BYTES
  if (units * UNIT_BYTES_MAX < METADATA_BYTES_MAX) return true
  return Buffer.byteLength(JSON.stringify(metadata)) <= METADATA_BYTES_MAX
}
