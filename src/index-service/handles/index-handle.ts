import {
  ArgumentError,
  checkBoolean,
  checkFunction,
  checkOptions,
  checkSignal,
  checkText,
  checkWhole,
  mustBe,
  type OptionNames,
} from '../../native/index.ts'
import { type BackupOptions, writeBackup } from '../backup/backup.ts'
import { type RestoreOptions, restoreBackup } from '../backup/restore.ts'
import type { Reply } from '../commands/reply.ts'
import { commandNamed } from '../commands/table.ts'
import { IndexError } from '../errors.ts'
import { bytesOfKey, bytesToLookFor, type IndexKey, keyOfBytes, markedTuple, TUPLE_MARK } from '../keys/index-key.ts'
import { prefixRange } from '../keys/tuple-key.ts'
import type { TuplePart } from '../keys/tuple-part.ts'
import type { ValuePlace } from '../located.ts'
import type { IndexNodeFigures } from '../node/index-contract.ts'
import type { IndexPort, ShardPort } from '../port.ts'
import type { Call, Watched } from '../state/shard-command.ts'
import {
  bufferOf,
  bytesOfValue,
  callNames,
  callOf,
  type IndexArgument,
  IndexCaller,
  type IndexCallOptions,
  type IndexValue,
  KeyCaller,
  limitsOf,
  numberOf,
  owned,
  placeIn,
  unlessFault,
} from './caller.ts'
import { IndexHash } from './hash-handle.ts'
import { IndexList } from './list-handle.ts'
import { hotKeys, sizesByPrefix, slowCalls } from './observations.ts'
import { MergedPages, RangePages } from './range-pages.ts'
import { IndexSet } from './set-handle.ts'
import { IndexSortedSet } from './sorted-set-handle.ts'

const backupNames: OptionNames<BackupOptions> = { signal: true, onProgress: true }

/** Options of {@link Index.set}. */
export interface IndexSetOptions extends IndexCallOptions {
  /** The key is gone after this time. Default: it stays, and a time that it had before no longer counts. */
  readonly ttlMs?: number
  /** The time that it had before still counts. */
  readonly keepTtl?: boolean
  /** Only if there is no such key. */
  readonly ifAbsent?: boolean
  /** Only if there is such a key. */
  readonly ifPresent?: boolean
  /** Only if the key has this version: 0 if it is to be absent. See {@link Index.getVersioned}. */
  readonly ifVersion?: number
}

/** Options of {@link Index.range}. Bounds are tuples. */
export interface IndexRangeOptions extends IndexCallOptions {
  /** All tuples that begin with these parts. */
  readonly prefix?: readonly TuplePart[]
  /** The first one; default: from the lowest on. */
  readonly from?: readonly TuplePart[]
  /** The first one that is not included; default: up to the highest. */
  readonly to?: readonly TuplePart[]
  /** From the highest to the lowest. */
  readonly reverse?: boolean
  /** Not more than that. */
  readonly limit?: number
}

/** A value, and which change of its key made it. */
export interface Versioned {
  /** Undefined if there is no such key. */
  readonly value: Buffer | undefined
  /** 0 if there is no such key. */
  readonly version: number
}

/** One of several commands that are run together: its name and its arguments. */
export type IndexCommand = readonly [name: string, ...args: readonly (IndexArgument | readonly TuplePart[])[]]

const setNames: OptionNames<IndexSetOptions> = {
  ...callNames,
  ttlMs: true,
  keepTtl: true,
  ifAbsent: true,
  ifPresent: true,
  ifVersion: true,
}
const rangeNames: OptionNames<IndexRangeOptions> = {
  ...callNames,
  prefix: true,
  from: true,
  to: true,
  reverse: true,
  limit: true,
}

/** Keys that are fetched at a time. */
const PAGE = 256

/**
 * Data by key, which several processes keep alike: text, numbers and bytes, hashes, lists, sets, sorted sets. Made by
 * `openIndex` and `connectIndex`.
 *
 * A key is text or bytes, or a tuple such as `['user', 7]`; {@link Index.range} finds tuples in order. Text and the
 * bytes of its UTF-8 are the same key.
 */
export class Index implements AsyncDisposable {
  readonly name: string
  readonly #caller: IndexCaller

  /** @internal Made by `openIndex` and `connectIndex`. */
  constructor(name: string, port: IndexPort) {
    this.name = name
    this.#caller = new IndexCaller(port)
  }

  /** The value of a key; undefined if there is none. @throws IndexError `ERR_AETHER_INDEX_WRONG_TYPE` */
  async get(key: IndexKey, options: IndexCallOptions = {}): Promise<Buffer | undefined> {
    checkOptions('get', options, callNames)
    const sought = bytesToLookFor(key)
    const looked = this.#caller.shardOf(sought).lookAt(sought)
    if (looked instanceof Uint8Array || looked === null) return bufferOf(looked)
    return bufferOf(await this.#caller.one({ name: 'GET', args: [bytesOfKey(key)] }, options))
  }

  /** The same as text. */
  async getText(key: IndexKey, options: IndexCallOptions = {}): Promise<string | undefined> {
    return (await this.get(key, options))?.toString()
  }

  /** Store a value, whatever the key has held. False if a condition for it does not hold. */
  async set(key: IndexKey, value: IndexValue, options: IndexSetOptions = {}): Promise<boolean> {
    checkOptions('set', options, setNames)
    const { ttlMs, keepTtl = false, ifAbsent = false, ifPresent = false, ifVersion, ...limits } = options
    if (ttlMs !== undefined) checkWhole('options.ttlMs', ttlMs, 1, Number.MAX_SAFE_INTEGER)
    if (ifVersion !== undefined) checkWhole('options.ifVersion', ifVersion, 0, Number.MAX_SAFE_INTEGER)
    for (const [name, value] of Object.entries({ keepTtl, ifAbsent, ifPresent })) checkBoolean(`options.${name}`, value)
    if (ifAbsent && ifPresent)
      throw new ArgumentError('options.ifPresent', 'ifAbsent and ifPresent exclude each other; leave one of them out')
    const call = callOf(
      'SET',
      key,
      value,
      ...(ttlMs === undefined ? [] : ['PX', ttlMs]),
      ...(keepTtl ? ['KEEPTTL'] : []),
    )
    const conditions = [...(ifAbsent ? ['NX'] : []), ...(ifPresent ? ['XX'] : [])].map((word) => Buffer.from(word))
    const whole = { ...call, args: [...call.args, ...conditions] }
    if (ifVersion === undefined) return (await this.#caller.one(whole, limits)) !== null
    const replies = await this.#caller.all([whole], [{ key: call.args[0]!, version: ifVersion }], limits)
    return replies !== undefined && unlessFault(replies[0]!) !== null
  }

  /** The value with its version, for `ifVersion` of {@link Index.set} and `unchanged` of {@link Index.atomic}. */
  async getVersioned(key: IndexKey, options: IndexCallOptions = {}): Promise<Versioned> {
    checkOptions('getVersioned', options, callNames)
    const bytes = bytesOfKey(key)
    const shard = this.#caller.shardOf(bytes)
    for (;;) {
      const [version] = await shard.versions([bytes], limitsOf(options))
      const value = bufferOf(await this.#caller.one({ name: 'GET', args: [bytes] }, options))
      const [after] = await shard.versions([bytes], limitsOf(options))
      if (version === after) return { value, version: version! }
    }
  }

  /** The versions of keys; 0 of those that are not there. */
  async versions(keys: readonly IndexKey[], options: IndexCallOptions = {}): Promise<readonly number[]> {
    checkOptions('versions', options, callNames)
    const limits = limitsOf(options)
    const all = listOf('keys', 'keys', keys).map((key, place) => bytesOfKey(key, `keys[${place}]`))
    return await Promise.all(all.map(async (key) => (await this.#caller.shardOf(key).versions([key], limits))[0]!))
  }

  /** How many of the keys were there. They are gone now, whatever they held; those of one shard at the same time. */
  async delete(...keys: readonly IndexKey[]): Promise<number> {
    const byShard = new Map<ShardPort, Uint8Array[]>()
    for (const key of keys) {
      const bytes = bytesOfKey(key)
      const shard = this.#caller.shardOf(bytes)
      byShard.set(shard, [...(byShard.get(shard) ?? []), bytes])
    }
    const counts = [...byShard].map(([shard, args]) => this.#caller.oneIn(shard, { name: 'DEL', args }, {}))
    return sumOf(await Promise.all(counts))
  }

  async has(key: IndexKey, options: IndexCallOptions = {}): Promise<boolean> {
    checkOptions('has', options, callNames)
    return (await this.#caller.one(callOf('EXISTS', key), options)) === 1
  }

  /**
   * Add to the number that a key holds, 0 if there is none, and return the sum. A sum beyond 2^53 is rounded;
   * `call('INCRBY', …)` answers it as a bigint.
   * @throws IndexError `ERR_AETHER_INDEX_REFUSED` if the key holds something else, or the sum leaves 64 bits.
   */
  async increment(key: IndexKey, by: number | bigint = 1, options: IndexCallOptions = {}): Promise<number> {
    checkOptions('increment', options, callNames)
    if (typeof by === 'number' && !Number.isInteger(by)) throw mustBe('by', 'a whole number', by)
    return numberOf(await this.#caller.one(callOf('INCRBY', key, by), options))
  }

  /** Let a key end after this time. False if there is no such key. */
  async expire(key: IndexKey, ttlMs: number, options: IndexCallOptions = {}): Promise<boolean> {
    checkOptions('expire', options, callNames)
    checkWhole('ttlMs', ttlMs, 0, Number.MAX_SAFE_INTEGER)
    return (await this.#caller.one(callOf('PEXPIRE', key, ttlMs), options)) === 1
  }

  /** Let a key stay. False if there is no such key, or it stays anyway. */
  async persist(key: IndexKey, options: IndexCallOptions = {}): Promise<boolean> {
    checkOptions('persist', options, callNames)
    return (await this.#caller.one(callOf('PERSIST', key), options)) === 1
  }

  /** How long a key has yet, in milliseconds; Infinity if it stays, undefined if there is none. */
  async ttlMs(key: IndexKey, options: IndexCallOptions = {}): Promise<number | undefined> {
    checkOptions('ttlMs', options, callNames)
    const left = numberOf(await this.#caller.one(callOf('PTTL', key), options))
    return left === -2 ? undefined : left === -1 ? Number.POSITIVE_INFINITY : left
  }

  /** How many keys there are. */
  async size(options: IndexCallOptions = {}): Promise<number> {
    checkOptions('size', options, callNames)
    return sumOf(await this.#caller.everywhere({ name: 'DBSIZE', args: [] }, options))
  }

  /** Remove all keys, shard by shard. */
  async clear(options: IndexCallOptions = {}): Promise<void> {
    checkOptions('clear', options, callNames)
    await this.#caller.everywhere({ name: 'FLUSHDB', args: [] }, options)
  }

  /**
   * Every key that stays, and some of those that come or go meanwhile; a key may come twice. In no order. `match`: a
   * pattern in which `*`, `?` and `[a-z]` stand for others, as Redis has it.
   */
  async *keys(
    options: IndexCallOptions & { readonly match?: string } = {},
  ): AsyncGenerator<Buffer | readonly TuplePart[], void, undefined> {
    checkOptions('keys', options, { ...callNames, match: true })
    const { match, ...limits } = options
    if (match !== undefined) checkText('options.match', match)
    const rest = ['COUNT', String(PAGE), ...(match === undefined ? [] : ['MATCH', match])]
    for (const shard of this.#caller.allShards) {
      let cursor = '0'
      do {
        const args = [cursor, ...rest].map((word) => Buffer.from(word))
        const page = await this.#caller.oneIn(shard, { name: 'SCAN', args }, limits)
        const [next, keys] = page as readonly [Uint8Array, Reply[]]
        for (const key of keys) yield keyOfBytes(key as Uint8Array)
        cursor = bufferOf(next)!.toString()
      } while (cursor !== '0')
    }
  }

  /**
   * Tuples in order, with the strings that they hold. Each is as of the moment in which its page was read; pages have
   * 256, or 1 MiB.
   */
  async *range(
    options: IndexRangeOptions = {},
  ): AsyncGenerator<readonly [key: readonly TuplePart[], value: Buffer], void, undefined> {
    checkOptions('range', options, rangeNames)
    const { prefix, from, to, reverse = false, limit = Number.POSITIVE_INFINITY, ...limits } = options
    if (prefix !== undefined && (from !== undefined || to !== undefined))
      throw new ArgumentError('options.prefix', 'pass a prefix, or bounds; not both')
    checkBoolean('options.reverse', reverse)
    if (limit !== Number.POSITIVE_INFINITY) checkWhole('options.limit', limit, 0, Number.MAX_SAFE_INTEGER)
    const within = prefix === undefined ? undefined : prefixRange(prefix)
    const low = within === undefined ? lowest(from) : marked(within.from)
    const high = within === undefined ? highest(to) : marked(within.to)
    const page = Math.min(limit, PAGE)
    const pages = this.#caller.allShards.map(
      (shard) => new RangePages({ caller: this.#caller, shard, low, high, reverse, page, limits }),
    )
    const entries = new MergedPages(pages, reverse)
    for (let left = limit; left > 0; ) {
      if (!entries.isReady) await entries.fill()
      const entry = entries.take()
      if (entry === undefined) return
      const key = keyOfBytes(entry[0])
      // Of a client of Redis, and no tuple.
      if (key instanceof Uint8Array) continue
      left -= 1
      yield [key, bufferOf(entry[1])!]
    }
  }

  /** What each node holds that can be asked now, by rank: shards, keys, memory. */
  async nodes(options: IndexCallOptions = {}): Promise<readonly IndexNodeFigures[]> {
    checkOptions('nodes', options, callNames)
    return await this.#caller.port.figures(limitsOf(options))
  }

  /**
   * Calls that took `slowMs` of `openIndex` or longer, from when they came to a node until they were answered. It has
   * the last 128 of each node that can be asked, the latest first. Reads of memory are not among them. With `reset` the
   * nodes then forget them.
   */
  async slowLog(options: IndexCallOptions & { readonly reset?: boolean } = {}): Promise<
    readonly {
      /** Rank of the node that noted it. */
      readonly node: number
      /** When it was answered, in milliseconds since 1970. */
      readonly atMs: number
      readonly tookMs: number
      /** The name of the command and its arguments; long ones are cut. */
      readonly command: readonly Buffer[]
      /** Whose call: an address of a client of Redis, the number of a client of the node, or the node. */
      readonly client: string
    }[]
  > {
    return await slowCalls(this.#caller, options)
  }

  /**
   * The keys of all databases that are used most in the next `forMs`, 1000 by default. There are up to `count`, 10 by
   * default, the most used first. Reads of memory by clients are included. Uses are counted only while someone asks;
   * those of two keys may rarely be taken for one. Keys that are gone by the end are not listed.
   */
  async hotKeys(
    options: IndexCallOptions & { readonly forMs?: number; readonly count?: number } = {},
  ): Promise<readonly { readonly db: number; readonly key: Buffer | readonly TuplePart[]; readonly uses: number }[]> {
    return await hotKeys(this.#caller, options)
  }

  /**
   * How many keys begin alike, and what they take, in all databases. There are up to `count` prefixes, 100 by default,
   * the largest first, and the `rest`. A prefix is the first `depth` parts of a key, 1 by default, but never all of
   * them. The parts of text and bytes end at `separator`, `:` by default; those of tuples are their own. Keys are gone
   * through a few at a time, so those that come or go meanwhile may count or not.
   */
  async sizesByPrefix(
    options: IndexCallOptions & {
      readonly separator?: string
      readonly depth?: number
      readonly count?: number
    } = {},
  ): Promise<{
    readonly prefixes: readonly {
      readonly db: number
      readonly prefix: Buffer | readonly TuplePart[]
      readonly keys: number
      readonly bytes: number
    }[]
    readonly rest: { readonly keys: number; readonly bytes: number }
  }> {
    return await sizesByPrefix(this.#caller, options)
  }

  /**
   * Write all keys of all databases to a file, while the index is in use. What it says of the keys of one shard was so
   * at one moment. The file takes its name when all of it is on the disk, and belongs to you alone (mode 0600). Returns
   * its length.
   * @throws SaveError if it cannot be written; IndexError if a node ends meanwhile.
   */
  async backup(path: string, options: BackupOptions = {}): Promise<{ readonly bytes: number }> {
    checkBackup('backup', path, options, backupNames)
    return { bytes: await writeBackup(this.#caller.port, path, options) }
  }

  /**
   * Put all keys of a backup into this index, which may have another number of shards and other memory. The file is
   * looked at as a whole before anything is restored. Clients see keys come one by one. Returns how many keys
   * the backup has.
   * @throws IndexError `ERR_AETHER_INDEX_BACKUP` if the file is not whole, or if the index has keys without `merge`;
   *   `…_FULL`, and then some of the keys are restored.
   */
  async restore(path: string, options: RestoreOptions = {}): Promise<{ readonly keys: number }> {
    checkBackup('restore', path, options, { ...backupNames, merge: true })
    if (options.merge !== undefined) checkBoolean('options.merge', options.merge)
    return { keys: await restoreBackup(this.#caller.port, path, options) }
  }

  /**
   * Where the string at a key lies in memory of a node; undefined without such a key. A program can then read the value
   * itself, or READ it from another machine. First come the bytes, then the words of `unchanged`. If these have the
   * values that are given here, the bytes are the whole value, and the node had no newer one. Otherwise ask again.
   *
   * A node that no longer leads does not learn of newer values: {@link Index.versions} tells.
   * @throws IndexError `ERR_AETHER_INDEX_UNREACHABLE` if no memory that is reached has it, `…_WRONG_TYPE`
   */
  async locate(key: IndexKey, options: IndexCallOptions = {}): Promise<ValuePlace | undefined> {
    checkOptions('locate', options, callNames)
    const bytes = bytesOfKey(key)
    return await placeIn(this.#caller.shardOf(bytes), bytes, options)
  }

  /** The hash at a key: fields with values. */
  hashAt(key: IndexKey): IndexHash {
    return new IndexHash(new KeyCaller(this.#caller, bytesOfKey(key)))
  }

  /** The list at a key. */
  listAt(key: IndexKey): IndexList {
    return new IndexList(new KeyCaller(this.#caller, bytesOfKey(key)))
  }

  /** The set at a key. */
  setAt(key: IndexKey): IndexSet {
    return new IndexSet(new KeyCaller(this.#caller, bytesOfKey(key)))
  }

  /** The sorted set at a key: members with scores. */
  sortedSetAt(key: IndexKey): IndexSortedSet {
    return new IndexSortedSet(new KeyCaller(this.#caller, bytesOfKey(key)))
  }

  /**
   * Run any command that Redis has for data, by its name. What it answers is as Redis answers: `null`, numbers, text
   * for a status, bytes, arrays, maps and sets.
   * @throws IndexError with the message of Redis.
   */
  async call(name: string, ...args: readonly (IndexArgument | readonly TuplePart[])[]): Promise<Reply> {
    return owned(await this.#caller.one(commandOf([name, ...args])))
  }

  /**
   * Run several commands one after the other, with nothing in between, and return what each answered. `unchanged`: only
   * if these keys still have these versions; undefined if one has another. A command that fails undoes nothing: its
   * error is in its place.
   */
  async atomic(
    commands: readonly IndexCommand[],
    options: IndexCallOptions & { readonly unchanged?: readonly (readonly [key: IndexKey, version: number])[] } = {},
  ): Promise<readonly (Reply | IndexError)[] | undefined> {
    checkOptions('atomic', options, { ...callNames, unchanged: true })
    const { unchanged, ...limits } = options
    const calls = listOf('commands', 'commands such as ["INCR", "visits"]', commands).map(commandOf)
    const watched = unchanged === undefined ? undefined : watchedOf(unchanged)
    const replies = await this.#caller.all(calls, watched, limits)
    return replies?.map((reply) => {
      try {
        return owned(unlessFault(reply))
      } catch (error) {
        if (error instanceof IndexError) return error
        throw error
      }
    })
  }

  close(): Promise<void> {
    return this.#caller.port.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

function listOf<T>(argument: string, what: string, list: readonly T[]): readonly T[] {
  if (!Array.isArray(list)) throw mustBe(argument, `a list of ${what}`, list)
  return list
}

function watchedOf(unchanged: readonly (readonly [key: IndexKey, version: number])[]): Watched[] {
  const what = 'a list of pairs of a key and its version'
  if (!Array.isArray(unchanged)) throw mustBe('options.unchanged', what, unchanged)
  return unchanged.map((pair) => {
    if (!Array.isArray(pair)) throw mustBe('options.unchanged', what, unchanged)
    const [key, version] = pair as unknown as readonly [IndexKey, number]
    checkWhole('options.unchanged', version, 0, Number.MAX_SAFE_INTEGER)
    return { key: bytesOfKey(key, 'options.unchanged'), version }
  })
}

function commandOf(command: IndexCommand): Call {
  if (!Array.isArray(command)) throw mustBe('commands', 'a list of commands such as ["INCR", "visits"]', command)
  const [name, ...args] = command as IndexCommand
  const spec = typeof name === 'string' ? commandNamed(name) : undefined
  if (spec === undefined) throw mustBe('name', 'the name of a command, such as "LPUSH"', name)
  const encoded = args.map((each) =>
    Array.isArray(each) ? markedTuple(each) : bytesOfValue(each as IndexArgument, 'args'),
  )
  return { name: spec.name, args: encoded }
}

function sumOf(replies: readonly Reply[]): number {
  return replies.reduce<number>((sum, reply) => sum + numberOf(reply), 0)
}

function marked(encoded: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.of(TUPLE_MARK), encoded])
}

function lowest(from: readonly TuplePart[] | undefined): Uint8Array {
  return from === undefined ? Uint8Array.of(TUPLE_MARK) : markedTuple(from)
}

function highest(to: readonly TuplePart[] | undefined): Uint8Array {
  return to === undefined ? Uint8Array.of(TUPLE_MARK + 1) : markedTuple(to)
}

/** @throws ArgumentError */
function checkBackup<T extends BackupOptions>(name: string, path: string, options: T, known: OptionNames<T>): void {
  checkText('path', path)
  if (path.includes('\0')) throw mustBe('path', 'a path without null characters', path)
  checkOptions(name, options, known)
  checkSignal('options.signal', options.signal)
  if (options.onProgress !== undefined)
    checkFunction('options.onProgress', options.onProgress, 'that is told how far it is')
}
