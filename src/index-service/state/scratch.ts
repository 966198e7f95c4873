import { Blocked, type CommandContext, type CommandSpec } from '../commands/command.ts'
import { CommandFault, type Reply } from '../commands/reply.ts'
import { commandNamed, faultOfCall, OUT_OF_MEMORY } from '../commands/table.ts'
import { LoadingRecords } from '../memory/loading-records.ts'
import { bytesOf, latin1Of } from '../values/latin1.ts'
import { DATABASES_MAX, Databases } from './databases.ts'
import { effectsOf } from './effects.ts'
import { CommandRandom } from './random.ts'
import { keyOfRecord, spaceOfRecord } from './record-format.ts'
import type { Call, Watched } from './shard-command.ts'

export interface ScratchOptions {
  /** The state of the shard: it is only read. */
  readonly source: Databases
  /** Of the moment, for all calls. */
  readonly timeMs: number
  readonly index: number
  /** The memory is used up, so what needs more of it is refused. */
  readonly isFull: boolean
  /** The format of commands that is in force. */
  readonly format: number
}

/** Commands about the keys of a database, or of all, without their names. */
const aboutAll: ReadonlySet<string> = new Set(['dbsize', 'keys', 'scan', 'randomkey', 'range', 'flushdb', 'flushall'])

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/**
 * A copy of a shard for calls that depend on each other's answers. A key is copied when it is first touched, with all
 * that it holds. What the calls did is told by {@link effects}; they hold as long as {@link watched} is unchanged.
 *
 * Keys that were never touched by name, but were counted or listed, may change meanwhile.
 */
export class ShardScratch {
  readonly effects: Call[] = []
  /** Of the calls to come. */
  origin: number | undefined
  /** How many calls have changed nothing. */
  reads = 0
  readonly timeMs: number
  /** The memory is used up. */
  readonly isFull: boolean
  readonly #format: number
  readonly #source: Databases
  readonly #own: Databases
  readonly #context: Writable<CommandContext>
  readonly #random = new CommandRandom()
  /** By space and key. */
  readonly #watched = new Map<string, Watched>()
  /** Spaces whose keys are not those of the source any more. */
  readonly #flushed = new Set<number>()

  constructor({ source, timeMs, index, isFull, format }: ScratchOptions) {
    this.#format = format
    this.#source = source
    this.timeMs = timeMs
    this.isFull = isFull
    this.#random.seed(Math.floor(Math.random() * 2 ** 32))
    const moment = { timeMs, index, isRead: false }
    this.#own = new Databases({
      records: new LoadingRecords((recordKey) => this.#load(recordKey)),
      moment,
      waitingKeys: () => [],
      events: undefined,
    })
    this.#context = Object.assign(moment, {
      db: 0,
      databases: () => this.#own,
      random: () => this.#random.next(),
      mayBlock: false,
      readyKey: undefined,
    })
  }

  /** Keys that were touched, as they were. */
  get watched(): readonly Watched[] {
    return [...this.#watched.values()]
  }

  /** Of a key as it is in the shard; it counts as touched. */
  versionOf(key: Uint8Array, db: number = 0): number {
    this.#own.at(db).has(key)
    return this.#source.versionOf(db, key)
  }

  /** A command that may wait answers at once. `mayFill`: it is done even if the memory is used up. */
  call(call: Call, mayFill: boolean = false): Reply {
    const { name, args, db = 0 } = call
    const fault = faultOfCall(name, args, this.#format)
    if (fault !== undefined) return fault
    const spec = commandNamed(name)!
    if (spec.needsMemory && this.isFull && !mayFill) return OUT_OF_MEMORY
    if (!Databases.has(db)) return { fault: 'ERR', message: 'DB index is out of range' }
    const reply = this.#run(spec, args, db)
    if (!spec.isWrite) {
      this.reads += 1
      return reply
    }
    const { origin } = this
    for (const effect of effectsOf(call, reply, this.timeMs))
      this.effects.push(origin === undefined ? effect : { ...effect, origin })
    return reply
  }

  #run(spec: CommandSpec, args: readonly Uint8Array[], db: number): Reply {
    const context = this.#context
    context.db = db
    try {
      const reply = aboutAll.has(spec.name)
        ? this.#runForAll(spec, args, db)
        : spec.run(this.#own.at(db), args, context)
      return reply instanceof Blocked ? null : reply
    } catch (error) {
      if (error instanceof CommandFault) return { fault: error.code, message: error.message }
      throw error
    }
  }

  #runForAll(spec: CommandSpec, args: readonly Uint8Array[], db: number): Reply | Blocked {
    if (spec.isWrite) {
      const reply = spec.run(this.#own.at(db), args, this.#context)
      if (spec.name === 'flushdb') this.#flushed.add(this.#own.at(db).space)
      else for (let space = 0; space < DATABASES_MAX; space += 1) this.#flushed.add(space)
      return reply
    }
    if (this.effects.length === 0)
      return spec.run(this.#source.at(db), args, { ...this.#context, databases: () => this.#source, isRead: true })
    this.#loadAll(db)
    return spec.run(this.#own.at(db), args, this.#context)
  }

  #loadAll(db: number): void {
    const own = this.#own.at(db)
    if (this.#flushed.has(own.space)) return
    for (const name of this.#source.at(own.space).listing.sorted()) own.has(bytesOf(name))
  }

  /** The first look at a key. Spaces have the numbers that databases had at the beginning. */
  #load(recordKey: Uint8Array): void {
    const space = spaceOfRecord(recordKey)
    if (space === undefined || this.#flushed.has(space)) return
    const key = Uint8Array.from(keyOfRecord(recordKey))
    const name = `${space}/${latin1Of(key)}`
    if (this.#watched.has(name)) return
    const source = this.#source.at(space)
    this.#watched.set(name, { key, version: this.#source.stateVersionOf(space, key), db: space })
    const own = this.#own.held.find((keyspace) => keyspace.space === space)!
    if (source.has(key)) own.copyFrom(source, key, key)
  }
}
