import type { NameEntry } from '../heap/name-entry.ts'

/** Buckets of one table, which is one chunk. */
export const TABLE_BUCKETS = 1024
/** The eighth word of a bucket says when its entries were used, where the map has a bound: see ages.ts. */
export const BUCKET_SLOTS = 7
export const BUCKET_BYTES = 64

/** How often a table can be split: 512 tables at one home. */
export const DEPTH_MAX = 9
/** Nodes of the tree of tables, from 1 on. */
export const NODES: number = 2 ** (DEPTH_MAX + 1)

/** The share of its slots that a table is expected to fill before it is split: with two choices of seven it is more. */
const FILL = 0.7
/** The same where it has a bound, so that hardly any is split. */
const BOUNDED_FILL = 0.6
const BUCKETS_MIN = 8
/** What one table is made for. */
export const TABLE_ENTRIES: number = Math.floor((TABLE_BUCKETS * BUCKET_SLOTS * FILL) / 1000) * 1000

/**
 * Buckets of the tables of a map with at most `maxEntries` entries. A small map has few, so that a look at some of them
 * finds entries.
 */
export function bucketsFor(maxEntries: number): number {
  return Math.min(TABLE_BUCKETS, Math.ceil(maxEntries / (BUCKET_SLOTS * BOUNDED_FILL) / BUCKETS_MIN) * BUCKETS_MIN)
}

/** How often the first table of a map for `capacity` entries is split beforehand. */
export function depthFor(capacity: number): number {
  return Math.min(DEPTH_MAX, Math.max(0, Math.ceil(Math.log2(capacity / TABLE_ENTRIES))))
}

/**
 * The body of a map's entry:
 *
 * ```
 *  0  seed of its hashes, Float64   8  buckets of each table, Float64   16  the tree of tables: 1024 words   8256
 *       how many entries there are, where the map has a bound: count.ts
 * ```
 *
 * Seed and buckets never change.
 */
export const BodyOffset = { Seed: 0, Buckets: 8, Nodes: 16, Count: 8256 } as const
const BODY_BYTES = BodyOffset.Count + 8

/** What a map's entry says when it is opened. */
export interface MapBody {
  readonly seed: number
  readonly buckets: number
  /** Their words, as bytes: see tree.ts. */
  readonly nodes: Uint8Array
  /** The word of its count. */
  readonly count: bigint
}

/** Of a map that is made. */
export function writeMapBody({ seed, buckets, nodes }: Omit<MapBody, 'count'>): Uint8Array {
  const bytes = new Uint8Array(BODY_BYTES)
  const view = new DataView(bytes.buffer)
  view.setFloat64(BodyOffset.Seed, seed, true)
  view.setFloat64(BodyOffset.Buckets, buckets, true)
  bytes.set(nodes, BodyOffset.Nodes)
  return bytes
}

/** Whether a map has a bound: of its parameters the fourth is how many entries it may have, or 0. */
export function isBounded({ parameters }: Pick<NameEntry, 'parameters'>): boolean {
  return parameters[3] !== 0
}

export function readMapBody({ body }: Pick<NameEntry, 'body'>): MapBody {
  const view = new DataView(body.buffer, body.byteOffset, body.length)
  const seed = view.getFloat64(BodyOffset.Seed, true)
  const buckets = view.getFloat64(BodyOffset.Buckets, true)
  const nodes = body.slice(BodyOffset.Nodes, BodyOffset.Nodes + NODES * 8)
  return { seed, buckets, nodes, count: view.getBigUint64(BodyOffset.Count, true) }
}
