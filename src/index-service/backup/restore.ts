import { Buffer } from 'node:buffer'
import { isFault } from '../commands/reply.ts'
import { IndexError } from '../errors.ts'
import { shardOf } from '../keys/shard-of.ts'
import type { CallLimits, IndexPort } from '../port.ts'
import { type BackupItem, backupItems } from '../state/backup-items.ts'
import { DATABASES_MAX } from '../state/databases.ts'
import type { Call } from '../state/shard-command.ts'
import type { BackupOptions } from './backup.ts'
import { BackupReader } from './backup-file.ts'

export interface RestoreOptions extends BackupOptions {
  /** Restore also if the index has keys: those of the backup take the place of keys of the same names. */
  readonly merge?: boolean
}

/** Calls that go together, at most; a call is longer if its value is. */
const BYTES_MAX = 256 * 1024
const CALLS_MAX = 256
/** The last number below 2^63, which calls take: an expiry of 2^63 - 1 is stored as 2^63. */
const EXPIRY_MAX = 2 ** 63 - 1024
const LIMITS: CallLimits = { timeoutMs: 60_000, signal: undefined }

/**
 * Put all keys of a backup into an index, which may have another number of shards. The file is looked at as a whole
 * before anything is restored. Returns how many keys it has.
 * @throws IndexError `ERR_AETHER_INDEX_BACKUP` if the file is not whole, or the index has keys.
 */
export async function restoreBackup(port: IndexPort, path: string, options: RestoreOptions): Promise<number> {
  const { signal, onProgress, merge = false } = options
  await using reader = await BackupReader.open(path)
  const contents = await contentsOf(reader, signal)
  if (!merge) await checkEmpty(port)
  // Of each shard of the index. What is restored to one is in order.
  const lines = Array.from({ length: port.shards }, (_, shard) => new RestoreLine(port, shard))
  const begun = contents.beginnings.map(() => 0)
  for await (const { shard, items, endBytes } of reader.parts()) {
    signal?.throwIfAborted()
    for (const item of backupItems(items)) {
      if (item.kind === 'begin') begun[shard]! += 1
      const call = begun[shard] === contents.beginnings[shard] ? callOf(item) : undefined
      if (call !== undefined) await lines[shardOf(call.args[0]!, port.shards)]!.add(call)
    }
    onProgress?.({ bytes: endBytes, ofBytes: reader.lengthBytes })
  }
  await Promise.all(lines.map((line) => line.flush()))
  return contents.keys
}

interface BackupContents {
  readonly keys: number
  /** How often each shard begins. Only what follows on the last time counts. */
  readonly beginnings: readonly number[]
}

/** @throws IndexError if it is not whole. */
async function contentsOf(reader: BackupReader, signal: AbortSignal | undefined): Promise<BackupContents> {
  const beginnings = Array.from({ length: reader.head.shards }, () => 0)
  const counts = new Map<number, number>()
  for await (const { shard, items } of reader.parts()) {
    signal?.throwIfAborted()
    for (const item of backupItems(items)) {
      if (item.kind === 'begin') beginnings[shard]! += 1
      if (item.kind === 'end') counts.set(shard, item.keys)
    }
  }
  if (counts.size !== reader.head.shards)
    throw new IndexError('BACKUP', `the backup ${reader.path} lacks a shard; nothing of it is restored`)
  return { keys: [...counts.values()].reduce((sum, count) => sum + count, 0), beginnings }
}

async function checkEmpty(port: IndexPort): Promise<void> {
  const calls = Array.from({ length: DATABASES_MAX }, (_, db) => ({ name: 'DBSIZE', args: [], db }))
  const sizes = await Promise.all(
    Array.from({ length: port.shards }, (_, shard) => port.shard(shard).read(calls, LIMITS)),
  )
  const keys = sizes.flat().reduce<number>((sum, size) => sum + Number(size), 0)
  if (keys === 0) return
  const message = `the index has ${keys} keys; restore into one that is empty, or pass merge: true to replace keys`
  throw new IndexError('BACKUP', message, { outcome: 'not-applied' })
}

function callOf(item: BackupItem): Call | undefined {
  if (item.kind === 'gone') return { name: 'DEL', args: [item.key], db: item.db }
  if (item.kind !== 'key') return undefined
  const words = [String(Math.min(item.expireAtMs, EXPIRY_MAX)), 'REPLACE', 'ABSTTL'].map((word) => Buffer.from(word))
  return { name: 'RESTORE', args: [item.key, words[0]!, item.dump, words[1]!, words[2]!], db: item.db }
}

/** Calls to a shard of the index: one command of its log at a time, while the next one is gathered. */
class RestoreLine {
  readonly #port: IndexPort
  readonly #shard: number
  #calls: Call[] = []
  #bytes = 0
  #underWay: Promise<void> = Promise.resolve()

  constructor(port: IndexPort, shard: number) {
    this.#port = port
    this.#shard = shard
  }

  async add(call: Call): Promise<void> {
    this.#calls.push(call)
    this.#bytes += call.args.reduce((sum, { length }) => sum + length, 0)
    if (this.#bytes >= BYTES_MAX || this.#calls.length >= CALLS_MAX) await this.#send()
  }

  async flush(): Promise<void> {
    if (this.#calls.length > 0) await this.#send()
    await this.#underWay
  }

  async #send(): Promise<void> {
    await this.#underWay
    const calls = this.#calls
    this.#calls = []
    this.#bytes = 0
    this.#underWay = this.#run(calls)
    // The next one to send is told.
    this.#underWay.catch(() => undefined)
  }

  async #run(calls: readonly Call[]): Promise<void> {
    const replies = await this.#port.shard(this.#shard).run(calls, undefined, LIMITS, true)
    const fault = replies!.find(isFault)
    if (fault === undefined) return
    if (fault.fault === 'OOM')
      throw new IndexError('FULL', 'the index has no memory left for the rest of the backup; give it more')
    throw new IndexError('REFUSED', `a key of the backup was refused: ${fault.message}`)
  }
}
