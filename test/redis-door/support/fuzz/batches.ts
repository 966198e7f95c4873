import {
  database,
  key,
  list,
  many,
  maybe,
  oneOf,
  type Part,
  type Picker,
  sortedSet,
  stream,
  word,
} from '../../../index-service/support/program-parts.ts'
import { type Command, drawCommand } from '../../../index-service/support/programs.ts'

/** Calls commands, each of which stands behind its length, and answers with what they answer. */
const CALLER = `local out, at = {}, 1
while at <= #ARGV do
  local length = tonumber(ARGV[at])
  local reply = redis.pcall(unpack(ARGV, at + 1, at + length))
  if reply == nil then reply = false end
  out[#out + 1] = reply
  at = at + length + 1
end
return out`

/** Of connections, and others that only a whole server has. */
const ofServer: readonly (readonly (Part | string)[])[] = [
  ['SELECT', database],
  ['SELECT', '0'],
  ['PUBLISH', word, word],
  ['CLIENT', 'SETNAME', word],
  ['CLIENT', 'GETNAME'],
  ['CLIENT', oneOf('foo', 'GETREDIR', 'NO-EVICT'), maybe(oneOf('on', 'x'))],
  ['UNWATCH'],
  ['DBSIZE', word],
  ['HELLO', oneOf('2', '3', '3', '4', 'x'), maybe('SETNAME', word)],
  ['RESET'],
  ['SCRIPT', 'EXISTS', many(1, 2, word)],
  ['SCRIPT', 'LOAD', oneOf('return 1', 'return', 'return KEYS[1]')],
  ['EVALSHA', oneOf('e0e1f9fabfc9d4800c877a703b823ac0578ff8db', word), oneOf('0', '1', '-1', 'x'), maybe(key)],
  ['ACL', 'WHOAMI'],
  ['WAIT', '0', '0'],
  ['PUBSUB', oneOf('CHANNELS', 'NUMPAT', 'NUMSUB', 'foo'), maybe(word)],
  [oneOf('foo', 'GETX', ''), many(1, 4, word)],
  ['MULTI'],
  ['DISCARD'],
  ['EXEC'],
]

/** They wait until another client gives them something. */
const waiting: readonly (readonly (Part | string)[])[] = [
  ['BLPOP', many(1, 2, list), '0'],
  ['BRPOP', many(1, 2, list), '0'],
  ['BLMOVE', list, list, oneOf('LEFT', 'RIGHT'), oneOf('LEFT', 'RIGHT'), '0'],
  ['BLMPOP', '0', '1', list, oneOf('LEFT', 'RIGHT'), maybe('COUNT', '2')],
  ['BZPOPMIN', many(1, 2, sortedSet), '0'],
  ['BZPOPMAX', sortedSet, '0'],
  ['BZMPOP', '0', '1', sortedSet, oneOf('MIN', 'MAX')],
  ['XREAD', 'BLOCK', '0', 'STREAMS', stream, '$'],
  ['XREADGROUP', 'GROUP', oneOf('g1', 'g2'), 'c1', 'BLOCK', '0', 'STREAMS', stream, '>'],
]

/** What one client asks at once. */
export function drawBatch(pick: Picker): Command[] {
  const batch = Array.from({ length: 1 + pick.below(12) }, () => drawOne(pick))
  // A transaction, at times across batches.
  if (pick.once(6)) {
    if (pick.once(2)) batch.unshift(['MULTI'])
    if (!pick.once(3)) batch.push([pick.once(8) ? 'DISCARD' : 'EXEC'])
  }
  // In a transaction, the door refuses HELLO: the version would change in the midst of an answer.
  return batch.flatMap((command) => (command[0] === 'HELLO' ? [['DISCARD'], command] : [command]))
}

/**
 * WATCH, what another client does, and a transaction. What it does is a change to both servers, or to none: a key that
 * was made and removed meanwhile has changed for Redis alone.
 */
export function drawWatch(pick: Picker): readonly [watch: Command[], meanwhile: Command[], transaction: Command[]] {
  const watched = many(1, 2, key)(pick) as string[]
  const meanwhile = pick.of([
    ['SET', watched[0]!, 'new'],
    ['EXISTS', ...watched],
    ['TYPE', watched[0]!],
  ])
  const commands = Array.from({ length: pick.below(6) }, () => withoutChance(drawCommand(pick)))
  return [[['DISCARD'], ['SELECT', '0'], ['WATCH', ...watched]], [meanwhile], [['MULTI'], ...commands, ['EXEC']]]
}

/** A command that may wait until another client does something. */
export function drawWait(pick: Picker): Command {
  return made(pick, waiting)
}

function drawOne(pick: Picker): Command {
  if (pick.once(12)) return made(pick, ofServer)
  if (pick.once(12)) return drawScript(pick)
  return withoutChance(drawCommand(pick))
}

function drawScript(pick: Picker): Command {
  const calls = Array.from({ length: 1 + pick.below(3) }, () => withoutChance(drawCommand(pick)))
  const version = pick.once(3) ? 'redis.setresp(3)\n' : ''
  const args = calls.flatMap((call) => [String(call.length), ...call])
  return [pick.once(6) ? 'EVAL_RO' : 'EVAL', version + CALLER, '0', ...args]
}

/** What SPOP leaves must not be left to chance: it takes all. */
function withoutChance(command: Command): Command {
  const [name, key, ...more] = command
  if (name!.toUpperCase() !== 'SPOP' || key === undefined) return command
  return more.length === 1 && !/^\d+$/.test(more[0]!) ? command : [name!, key, '100', ...more.slice(1)]
}

function made(pick: Picker, from: readonly (readonly (Part | string)[])[]): Command {
  return pick.of(from).flatMap((part) => (typeof part === 'string' ? [part] : part(pick)))
}
