import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConsensusError, IDENTITY_FILE } from '../../consensus/index.ts'

const FOUNDED_FILE = 'founded'

/**
 * What a node's directory says of the shards of its index. If all nodes end, they have other ranks when they come back,
 * and so others are to hold a shard. A shard goes on only if those that have its log open it, and no one begins a new
 * one before they come.
 *
 * ```
 * DIRECTORY/identity, …           of the log, if there is one shard
 * DIRECTORY/SHARD/identity, …     of the log of each shard that this node has held, if there are several
 * DIRECTORY/founded               JSON: the shards that some node held, as far as this one knows
 * ```
 */
export class KeptShards {
  /** Shards whose logs are here. */
  readonly here: readonly number[]
  readonly #directory: string
  readonly #founded: Set<number>

  constructor(directory: string, shards: number) {
    const all = Array.from({ length: shards }, (_, shard) => shard)
    this.#directory = directory
    this.here = all.filter((shard) => existsSync(join(KeptShards.placeOf(directory, shards, shard), IDENTITY_FILE)))
    this.#founded = new Set(foundedIn(directory))
  }

  /** Where the log of a shard is kept. */
  static placeOf(directory: string, shards: number, shard: number): string {
    return shards === 1 ? directory : join(directory, String(shard))
  }

  /** Whether that shard has begun, as far as is known. */
  isFounded(shard: number): boolean {
    return this.#founded.has(shard)
  }

  /** Some node holds these. Where the disk has no room for it, it is tried again with the next call. */
  held(shards: Iterable<number>): void {
    const all = new Set([...this.#founded, ...shards])
    if (all.size === this.#founded.size) return
    const path = join(this.#directory, FOUNDED_FILE)
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
      writeFileSync(`${path}.new`, JSON.stringify([...all]), { mode: 0o600, flush: true })
      renameSync(`${path}.new`, path)
    } catch {
      return
    }
    for (const shard of all) this.#founded.add(shard)
  }
}

/** @throws ConsensusError */
function foundedIn(directory: string): readonly number[] {
  const file = join(directory, FOUNDED_FILE)
  if (!existsSync(file)) return []
  try {
    const shards: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (!Array.isArray(shards) || !shards.every(Number.isInteger)) throw new SyntaxError('it is no list of shards')
    return shards as number[]
  } catch (cause) {
    const what = `${file} is damaged; remove it once the other nodes of this index are there`
    throw new ConsensusError('LOG_DAMAGED', what, { file, cause })
  }
}
