import type { Call } from './shard-command.ts'

/** What a call takes besides the bytes of its arguments, more rather than less. */
const CALL_BYTES = 192

/** What calls may take until they have their answers. */
export function bytesOfCalls(calls: readonly Call[]): number {
  let bytes = 0
  for (const { args } of calls) {
    bytes += CALL_BYTES
    for (const argument of args) bytes += argument.length
  }
  return bytes
}
