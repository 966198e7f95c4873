import type { Reply } from '../../../../src/index-service/commands/reply.ts'
import type { Command } from '../../../index-service/support/programs.ts'
import { shownReply } from '../../../index-service/support/same-reply.ts'

/** RESP2 tells sets and maps as lists. */
const SETS: ReadonlySet<string> = new Set(['SMEMBERS', 'SINTER', 'SUNION', 'SDIFF', 'SPOP'])

/** A reply as a text that is equal if the replies are, for this command. `queued`: what EXEC was about. */
export function shownAnswer(command: Command, reply: Reply, queued: readonly Command[]): string {
  const name = command[0]!.toUpperCase()
  if (name === 'EXEC') return shownMany(queued, reply)
  // Both have versions and ids of their own.
  if (name === 'HELLO') return isFault(reply) ? shownReply(command, reply) : 'hello'
  if (name === 'EVAL' || name === 'EVAL_RO') {
    const text = shownMany(scriptCalls(command), reply)
    // A table of Lua has no order.
    return command[1]!.startsWith('redis.setresp(3)')
      ? text
          .split(/[,[\]{}:]/)
          .sort()
          .join()
      : text
  }
  // SORT of Redis 7.0 may take an error of a number that was read before for its own.
  if (name.startsWith('SORT') && !command.includes('STORE') && !command.includes('ALPHA')) return sorted(command, reply)
  if (SETS.has(name) && Array.isArray(reply)) return shownReply(command, new Set(reply))
  if (name === 'HGETALL' && Array.isArray(reply)) return shownReply(command, mapOf(reply))
  const text = shownReply(command, reply)
  // Redis keeps the sign of a zero in long sets only; see the differences in docs/redis.md.
  if (name.startsWith('Z')) return text.replace(/(?<![\w.-])-0(?![\w.])/g, '0')
  if (name.startsWith('X')) return shownStream(name, text)
  return text
}

/** Counts beyond 2^53 are rounded: see the same table. Ids, which are quoted, are not. */
function shownStream(name: string, shown: string): string {
  const text = shown.replace(/(?<=[,[])\d{16,}(?=[,\]])/g, (count) => String(Number(count)))
  if (name !== 'XINFO') return text
  // A door has no tree; that of Redis also has nodes all of whose entries were deleted.
  return text.replace(/"idle",\d+/g, 'idle').replace(/"radix-tree-(keys|nodes)",\d+/g, 'tree')
}

function sorted(command: Command, reply: Reply): string {
  return isFault(reply) || command.length > 2 ? 'sorted' : shownReply(command, reply)
}

/** What a script was given to call: each command stands behind its length. See `CALLER`. */
function scriptCalls(command: Command): Command[] {
  const args = command.slice(3 + Number(command[2]))
  const calls: Command[] = []
  for (let at = 0; at < args.length; ) {
    const length = Number(args[at])
    calls.push(args.slice(at + 1, at + 1 + length))
    at += 1 + length
  }
  return calls
}

function shownMany(commands: readonly Command[], reply: Reply): string {
  if (!Array.isArray(reply)) return shownReply(['EXEC'], reply)
  return reply.map((each: Reply, at) => shownAnswer(commands[at] ?? ['NONE'], each, [])).join(' | ')
}

function mapOf(flat: readonly Reply[]): Reply {
  return new Map(flat.flatMap((key, at) => (at % 2 === 0 ? [[key, flat[at + 1]!]] : [])))
}

function isFault(reply: Reply): boolean {
  return typeof reply === 'object' && reply !== null && 'fault' in reply
}
