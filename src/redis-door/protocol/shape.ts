import type { Reply } from '../../index-service/index.ts'
import { type DoorReply, NULL_ARRAY } from './door-reply.ts'

/** Commands that answer with a null array in RESP2 if they have nothing. */
const withNullArray: ReadonlySet<string> = new Set([
  ...['blpop', 'brpop', 'blmpop', 'lmpop', 'bzpopmin', 'bzpopmax', 'bzmpop', 'zmpop', 'xread', 'xreadgroup'],
])

/** What the index answers to a command, as RESP tells one nothing from the other. */
export function shaped(name: string, argumentCount: number, reply: Reply): DoorReply {
  if (reply !== null) return reply
  if (withNullArray.has(name)) return NULL_ARRAY
  const takesMany = (name === 'lpop' || name === 'rpop') && argumentCount > 1
  return takesMany ? NULL_ARRAY : null
}
