import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { Reply } from '../../../src/index-service/commands/reply.ts'
import { commandNamed } from '../../../src/index-service/commands/table.ts'
import type { KeyListeners } from '../../../src/index-service/state/key-events.ts'
import type { Call, ShardAnswer } from '../../../src/index-service/state/shard-command.ts'
import { ShardMachine, type ShardOptions } from '../../../src/index-service/state/shard-machine.ts'
import { RedisServer, redisSocket } from '../../../tools/bench/peers/redis-server.ts'
import { MapRecords } from '../../support/map-records.ts'
import { DATABASES, Picker } from './program-parts.ts'
import { type Command, drawCommand, drawDatabase, type templates } from './programs.ts'
import { RespClient } from './resp-client.ts'
import { shownReply } from './same-reply.ts'
import { type KeyEvent, MARK, MARK_DATABASE, shownEvents, ToldEvents } from './told-events.ts'

const BATCH = 500

/** Why tests that need redis-server are skipped; false if it is there. */
export const withoutRedis: string | false =
  spawnSync('redis-server', ['--version']).status === 0 ? false : 'redis-server is not installed'

/** Runs something with a connection to a redis-server of its own. */
export async function withRedis(use: (client: RespClient, listener: RespClient) => Promise<void>): Promise<void> {
  // SORT with ALPHA sorts by it.
  process.env['LC_ALL'] = 'C'
  const directory = mkdtempSync(join(tmpdir(), 'aether-redis-'))
  try {
    await using _server = await RedisServer.start(directory)
    const [client, other] = [0, 1].map(() => RespClient.connect(redisSocket(directory)))
    await use(await client!, await other!)
    for (const each of [client, other]) (await each)!.close()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

export function callOf([name, ...args]: Command): Call {
  return { name: name!, args: args.map((argument) => Buffer.from(argument, 'latin1')) }
}

export function callIn(db: number, command: Command): Call {
  return { ...callOf(command), db }
}

/** A machine that is told one command at a time. */
export class LoneMachine {
  readonly served: [number, Reply][] = []
  readonly events: KeyEvent[] = []
  readonly machine: ShardMachine
  timeMs = 1_700_000_000_000
  index = 0

  constructor({ memoryMax, onChange }: Pick<ShardOptions, 'memoryMax'> & Pick<KeyListeners, 'onChange'> = {}) {
    this.machine = new ShardMachine({
      records: new MapRecords(),
      onServed: (waiter, reply) => this.served.push([waiter, reply]),
      listeners: {
        onEvent: (db, kind, event, key) =>
          this.events.push({ db, kind, event, key: Buffer.from(key).toString('latin1') }),
        ...(onChange && { onChange }),
      },
      ...(memoryMax !== undefined && { memoryMax }),
    })
  }

  apply(command: Parameters<ShardMachine['apply']>[0]): ShardAnswer {
    this.index += 1
    return this.machine.apply(command, { index: this.index, timeMs: this.timeMs, term: 1 })
  }

  /** The reply to one command. */
  run(...command: string[]): Reply {
    return this.runIn(0, ...command)
  }

  /** The same in a database. */
  runIn(db: number, ...command: string[]): Reply {
    const answer = this.apply({ calls: [callIn(db, command)] })
    assert.ok(Array.isArray(answer))
    return answer[0] as Reply
  }

  snapshot(): Uint8Array[] {
    return [...this.machine.snapshot()].map((chunk) => Uint8Array.from(chunk))
  }

  /** Another machine in the same state. */
  restored(): LoneMachine {
    const other = new LoneMachine()
    other.machine.restore(this.snapshot())
    other.timeMs = this.timeMs
    other.index = this.index
    return other
  }
}

export interface ProgramOptions {
  readonly seed: number
  readonly commands: number
  readonly from?: typeof templates
  /** After this many commands, the machine is replaced by one that is restored from its snapshot. */
  readonly restoreEvery?: number
}

/** Gives a machine and Redis the same random commands: all answers are the same, and all events of each command. */
export async function compareWithRedis(
  [client, listener]: readonly [RespClient, RespClient],
  options: ProgramOptions,
): Promise<LoneMachine> {
  const { seed, commands, from, restoreEvery = Infinity } = options
  const told = await ToldEvents.listen(listener)
  const pick = new Picker(seed)
  let lone = new LoneMachine()
  await client.run([['FLUSHALL']])
  for (let done = 0; done < commands; done += BATCH) {
    lone.timeMs = Date.now()
    const batch = Array.from({ length: Math.min(BATCH, commands - done) }, () => ({
      db: drawDatabase(pick),
      command: drawCommand(pick, from),
    }))
    const events: string[][] = []
    const own = batch.map(({ db, command }) => {
      const reply = lone.runIn(db, ...command)
      events.push(shownEvents(lone.events.splice(0)))
      return reply
    })
    const sent = batch.map(({ db, command }, at) => ({ db, command: sentOf(command, own[at]!) }))
    const theirs = await answersOf(client, sent)
    const theirEvents = await told.take(sent.length)
    for (const [at, { db, command }] of batch.entries()) {
      const mine = sent[at]!.command === command ? own[at]! : sizeOf(own[at]!)
      const where = `seed ${seed}, command ${done + at} in ${db}: ${JSON.stringify(command)}`
      assert.equal(shownReply(command, mine), shownReply(command, theirs[at]!), where)
      // Members that were chosen are removed by name.
      const ownEvents = events[at]!.map((event) =>
        sent[at]!.command === command ? event : event.replace('spop', 'srem'),
      )
      assert.deepEqual(ownEvents, theirEvents[at], `events of ${where}`)
    }
    if (done % restoreEvery < BATCH && restoreEvery !== Infinity) lone = lone.restored()
  }
  for (let db = 0; db < DATABASES; db += 1) await told.take(await compareContents(client, lone, db))
  return lone
}

interface SentCommand {
  readonly db: number
  readonly command: Command
}

/** Redis' answers. Commands that may wait are sent in a transaction, in which they do not. */
async function answersOf(client: RespClient, commands: readonly SentCommand[]): Promise<Reply[]> {
  const groups = commands.map(({ db, command }, at) => {
    const expired = at === 0 ? [] : expiredBy(commands[at - 1]!)
    const select = [...(isSort(command) ? FORGET_ERRNO : []), ['SELECT', String(db)]]
    const sent = mayWait(command) ? [['MULTI'], command, ['EXEC']] : [command]
    return [...expired, ...select, ...sent, MARK]
  })
  const sent = groups.flat()
  const replies = await client.run(sent.map((command) => command.map((part) => Buffer.from(part, 'latin1'))))
  return groups.map((group, at) => {
    const own = replies.splice(0, group.length)
    const [queued, done] = own.slice(-3, -1) as [Reply, Reply]
    if (!mayWait(commands[at]!.command)) return done
    return queued === 'QUEUED' ? (done as readonly Reply[])[0]! : queued
  })
}

/** SET may set what has expired. Redis has it until it is looked for, and some commands delete it without a look. */
function expiredBy({ db, command: [name, key] }: SentCommand): Command[] {
  if (name!.toUpperCase() !== 'SET' || key === undefined) return []
  return [
    ['SELECT', String(db)],
    ['EXISTS', key],
  ]
}

/** SORT of Redis 7.0 may take an error of a number that was read before for its own. This reads one without error. */
const FORGET_ERRNO: readonly Command[] = [
  ['SELECT', String(MARK_DATABASE)],
  ['INCRBYFLOAT', 'none', '0'],
]

function isSort([name]: Command): boolean {
  return name!.toUpperCase().startsWith('SORT')
}

function mayWait([name]: Command): boolean {
  return commandNamed(name!)?.blocking !== undefined
}

/** What a machine popped at random is removed from Redis by name. */
function sentOf(command: Command, reply: Reply): Command {
  if (command[0]!.toUpperCase() !== 'SPOP' || sizeOf(reply) === 0) return command
  const members = reply instanceof Uint8Array ? [reply] : [...(reply as ReadonlySet<Uint8Array>)]
  return ['SREM', command[1]!, ...members.map((member) => Buffer.from(member).toString('latin1'))]
}

function sizeOf(reply: Reply): number {
  if (reply instanceof Uint8Array) return 1
  return reply instanceof Set ? reply.size : 0
}

/** Commands that answer with all that keys of each type hold. */
const DUMPS: Readonly<Record<string, (key: string) => readonly Command[]>> = {
  string: (key) => [['GET', key]],
  hash: (key) => [['HGETALL', key]],
  list: (key) => [['LRANGE', key, '0', '-1']],
  set: (key) => [['SMEMBERS', key]],
  zset: (key) => [['ZRANGE', key, '0', '-1', 'WITHSCORES']],
  stream: (key) => [
    ['XRANGE', key, '-', '+'],
    ['XINFO', 'GROUPS', key],
  ],
}

/** How many commands it took. */
async function compareContents(client: RespClient, lone: LoneMachine, db: number): Promise<number> {
  const names = lone.runIn(db, 'KEYS', '*') as Uint8Array[]
  const commands: Command[] = [['KEYS', '*'], ['DBSIZE']]
  for (const name of names) {
    const key = Buffer.from(name).toString('latin1')
    commands.push(['TYPE', key], ['PEXPIRETIME', key], ...DUMPS[lone.runIn(db, 'TYPE', key) as string]!(key))
  }
  const sent = commands.map((command) => ({ db, command }))
  const theirs = await answersOf(client, sent)
  for (const [at, command] of commands.entries())
    assert.equal(
      shownReply(command, lone.runIn(db, ...command)),
      shownReply(command, theirs[at]!),
      JSON.stringify(command),
    )
  return commands.length
}
