import { latin1Of } from '../../index-service/index.ts'
import type { RedisLink } from './redis-link.ts'

/** One command: its name and what follows. */
type Command = readonly (string | number | Uint8Array)[]

/** Elements of a command, and of a key that is replaced at one instant. */
const ELEMENTS_MAX = 512
const AT_ONCE_MAX = 16_384

/** Copies keys from one server to another: what is there replaces what was. */
export class KeyCopier {
  readonly #from: RedisLink
  readonly #to: RedisLink

  /** Both have the same database selected. */
  constructor(from: RedisLink, to: RedisLink) {
    this.#from = from
    this.#to = to
  }

  /** False if the key is not there (any more); then it is removed. @throws Error of either server */
  async copy(key: Uint8Array): Promise<boolean> {
    const [type, leftMs] = await Promise.all([this.#from.callBuffer('TYPE', key), this.#from.callBuffer('PTTL', key)])
    const read = readers[textOf(type)]
    if (read === undefined) {
      if (textOf(type) !== 'none') throw new Error(`keys of type '${textOf(type)}' cannot be copied`)
      await this.#to.callBuffer('UNLINK', key)
      return false
    }
    const commands = await read(this.#from, key)
    // It has expired, or was removed, in between.
    if (commands.length === 0 || Number(leftMs) === -2) {
      await this.#to.callBuffer('UNLINK', key)
      return false
    }
    const expiry: Command[] = Number(leftMs) < 0 ? [] : [['PEXPIRE', key, String(leftMs)]]
    await this.#write([['UNLINK', key], ...commands, ...expiry])
    return true
  }

  async #write(commands: readonly Command[]): Promise<void> {
    const isAtOnce = commands.length <= AT_ONCE_MAX / ELEMENTS_MAX
    const all: readonly Command[] = isAtOnce ? [['MULTI'], ...commands, ['EXEC']] : commands
    const replies = await Promise.all(all.map(([name, ...args]) => this.#to.callBuffer(String(name), ...args)))
    const failed = isAtOnce ? (replies.at(-1) as readonly unknown[]).find((reply) => reply instanceof Error) : undefined
    if (failed !== undefined) throw failed
  }
}

type Read = (from: RedisLink, key: Uint8Array) => Promise<readonly Command[]>

/** How a value of each type is read, as the commands that make it. */
const readers: Readonly<Record<string, Read>> = {
  async string(from, key) {
    const value = await from.callBuffer('GET', key)
    return value === null ? [] : [['SET', key, value as Buffer]]
  },
  async hash(from, key) {
    return inParts('HSET', key, (await from.callBuffer('HGETALL', key)) as Buffer[], 2)
  },
  async list(from, key) {
    return inParts('RPUSH', key, (await from.callBuffer('LRANGE', key, 0, -1)) as Buffer[], 1)
  },
  async set(from, key) {
    return inParts('SADD', key, (await from.callBuffer('SMEMBERS', key)) as Buffer[], 1)
  },
  async zset(from, key) {
    const scored = (await from.callBuffer('ZRANGE', key, 0, -1, 'WITHSCORES')) as Buffer[]
    const swapped = scored.map((_, at) => scored[at % 2 === 0 ? at + 1 : at - 1]!)
    return inParts('ZADD', key, swapped, 2)
  },
  stream: readStream,
}

function inParts(command: string, key: Uint8Array, elements: readonly Uint8Array[], width: number): readonly Command[] {
  const commands: Command[] = []
  const step = ELEMENTS_MAX - (ELEMENTS_MAX % width)
  for (let at = 0; at < elements.length; at += step) commands.push([command, key, ...elements.slice(at, at + step)])
  return commands
}

type Entry = readonly [id: Buffer, fields: readonly Buffer[]]
type Pending = readonly [id: Buffer, consumer: Buffer, idleMs: number, deliveries: number]

/** Entries, the last id, groups, and what consumers have taken and not acknowledged. */
async function readStream(from: RedisLink, key: Uint8Array): Promise<readonly Command[]> {
  const [entries, about, groups] = await Promise.all([
    from.callBuffer('XRANGE', key, '-', '+'),
    from.callBuffer('XINFO', 'STREAM', key).catch(() => null),
    from.callBuffer('XINFO', 'GROUPS', key).catch(() => []),
  ])
  if (about === null) return []
  const commands: Command[] = (entries as readonly Entry[]).map(([id, fields]) => ['XADD', key, id, ...fields])
  const stream = tableOf(about as readonly unknown[])
  // A stream without entries is made by one that is removed again.
  if (commands.length === 0) commands.push(['XADD', key, '0-1', 'x', 'x'], ['XTRIM', key, 'MAXLEN', 0])
  commands.push(['XSETID', key, stream.get('last-generated-id') as Buffer])
  for (const row of groups as readonly (readonly unknown[])[]) {
    const group = tableOf(row)
    const name = group.get('name') as Buffer
    commands.push(['XGROUP', 'CREATE', key, name, group.get('last-delivered-id') as Buffer])
    const pending = (await from.callBuffer('XPENDING', key, name, '-', '+', PENDING_MAX)) as readonly Pending[]
    for (const [id, consumer, idleMs, deliveries] of pending) {
      const state = ['IDLE', idleMs, 'RETRYCOUNT', deliveries, 'FORCE', 'JUSTID'] as const
      commands.push(['XCLAIM', key, name, consumer, 0, id, ...state])
    }
  }
  return commands
}

const PENDING_MAX = 1_000_000

/** What comes as names and values, one behind the other. */
function tableOf(row: readonly unknown[]): ReadonlyMap<string, unknown> {
  return new Map(row.flatMap((name, at) => (at % 2 === 0 ? [[textOf(name), row[at + 1]]] : [])))
}

function textOf(reply: unknown): string {
  return reply instanceof Uint8Array ? latin1Of(reply) : String(reply)
}
