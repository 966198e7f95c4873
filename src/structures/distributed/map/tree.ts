import { chunkOffset } from '../heap/chunks.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { ReadCommand } from '../memory/command.ts'
import { BodyOffset, NODES } from './body.ts'

/** A table of a map: a chunk, and how often that was made a table before. */
export interface MapTable {
  readonly chunk: number
  readonly generation: number
}

/** Where a key is, as far as this rank knows. */
export interface Route {
  readonly node: number
  /** The word of the node. */
  readonly word: bigint
  readonly table: MapTable
  /** What takes the table's place for this key, once it is moved; undefined where nothing is known to. */
  readonly next: MapTable | undefined
  /** Whether the table is being split, as far as is known. */
  readonly splitting: boolean
}

/**
 * A node of the tree of tables, one word, which changes twice, and never back:
 *
 * ```
 *   0: none ───► table ───► done: what it had is in the tables below
 *
 *   63 done   55 … 32 generation   15 … 0 chunk
 * ```
 *
 * Node 1 is the root; below node n are 2n, for hashes whose bit of this depth is 0, and 2n + 1. A table that is full is
 * *split*: both tables below are linked, all is moved into them, the node is done. So a word names one table for good,
 * and if a word is as it was, so is the table.
 */
const DONE = 1n << 63n

export function nodeWord({ chunk, generation }: MapTable): bigint {
  return (BigInt(generation) << 32n) | BigInt(chunk)
}

/** The word of a node whose tables are below. */
export function doneWord(word: bigint): bigint {
  return word | DONE
}

/** Undefined where there is none, or none any more. */
export function tableOf(word: bigint): MapTable | undefined {
  if (word === 0n || word >= DONE) return undefined
  return { chunk: Number(word & 0xffffn), generation: Number((word >> 32n) & 0xffffffn) }
}

/** Tables of all nodes. */
export function tablesOf(nodes: Uint8Array): MapTable[] {
  const view = new DataView(nodes.buffer, nodes.byteOffset, nodes.length)
  const tables: MapTable[] = []
  for (let at = 0; at < nodes.length; at += 8) {
    // Most nodes are none.
    const table = view.getUint32(at + 4, true) === 0 ? undefined : tableOf(view.getBigUint64(at, true))
    if (table !== undefined) tables.push(table)
  }
  return tables
}

/** Whether a table has tables below it. */
export function isSplitting(nodes: Uint8Array): boolean {
  const view = viewOf(nodes)
  return Array.from({ length: NODES / 2 }, (_, node) => node).some((node) => {
    const below = node > 0 && view.getBigUint64(2 * node * 8, true) + view.getBigUint64((2 * node + 1) * 8, true) > 0n
    return below && tableOf(view.getBigUint64(node * 8, true)) !== undefined
  })
}

/** A tree of tables made at once: all at one depth. */
export function evenTree(tables: readonly MapTable[]): Uint8Array {
  const nodes = new Uint8Array(NODES * 8)
  const view = new DataView(nodes.buffer)
  for (let node = 1; node < tables.length; node += 1) view.setBigUint64(node * 8, doneWord(0n), true)
  for (const [at, table] of tables.entries()) view.setBigUint64((tables.length + at) * 8, nodeWord(table), true)
  return nodes
}

/**
 * What this rank knows of a map's tree of tables. It is read once, and again when a table turns out to be gone or being
 * split.
 */
export class MapTree {
  readonly #memory: HomeMemory
  readonly #offset: number
  #nodes: DataView

  constructor(memory: HomeMemory, body: number, nodes: Uint8Array) {
    this.#memory = memory
    this.#offset = body + BodyOffset.Nodes
    this.#nodes = viewOf(nodes)
  }

  /** Where the word of a node is. */
  place(node: number): number {
    return this.#offset + node * 8
  }

  /** 0 also where the tree ends. */
  word(node: number): bigint {
    return node < NODES ? this.#nodes.getBigUint64(node * 8, true) : 0n
  }

  isDone(node: number): boolean {
    return this.word(node) >= DONE
  }

  /** It was seen, or made so. */
  note(node: number, word: bigint): void {
    this.#nodes.setBigUint64(node * 8, word, true)
  }

  async refresh(): Promise<void> {
    const read = new ReadCommand(this.#offset, NODES * 8)
    await this.#memory.run([read])
    this.#nodes = viewOf(read.bytes)
  }

  /** Undefined if there is a gap in what is known: then the tree has to be read again. */
  route(hash: number): Route | undefined {
    let node = 1
    let depth = 0
    while (this.isDone(node)) {
      node = 2 * node + (branchOf(hash, depth) ? 1 : 0)
      depth += 1
    }
    const word = this.word(node)
    const table = tableOf(word)
    if (table === undefined) return undefined
    const [left, right] = [this.word(2 * node), this.word(2 * node + 1)]
    const next = tableOf(branchOf(hash, depth) ? right : left)
    return { node, word, table, next, splitting: left !== 0n || right !== 0n }
  }
}

/** Which way a hash goes at a node of this depth: by bits that say nothing of the buckets, nor of the fingerprint. */
export function branchOf(hash: number, depth: number): boolean {
  return ((hash >>> (12 + depth)) & 1) === 1
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}

/** How far below the root a node is. */
export function depthOf(node: number): number {
  return 31 - Math.clz32(node)
}

/** Where a table begins. */
export function tableOffset({ chunk }: MapTable): number {
  return chunkOffset(chunk)
}
