import type { Call, PackedCalls } from './shard-command.ts'

/** What a call takes besides the bytes of its arguments, more rather than less. */
const CALL_BYTES = 192

/** What calls may take until they have their answers. */
export function bytesOfCalls(calls: readonly Call[] | PackedCalls): number {
  if ('count' in calls) return calls.count * CALL_BYTES + calls.bytes.length
  let bytes = 0
  for (const { args } of calls) {
    bytes += CALL_BYTES
    for (const argument of args) bytes += argument.length
  }
  return bytes
}
