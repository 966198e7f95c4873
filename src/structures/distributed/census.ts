import { StructureKind } from '../heap/structure-kind.ts'
import { type BlockName, blockOf, decodeBlock } from './block-word.ts'
import { ReadCommand } from './command.ts'
import type { HomeWords } from './home-words.ts'
import { CHUNK_BYTES, NAMES_MAX, NAMES_OFFSET } from './layout.ts'
import { readLogBody } from './log-body.ts'
import { BodyOffset, isBounded, readMapBody } from './map-body.ts'
import { miscount } from './map-count.ts'
import { BucketsRead, emptySlot } from './map-slot.ts'
import { isSplitting, type MapTable, tableOffset, tablesOf } from './map-tree.ts'
import { lookThroughObjects } from './mvrlu-census.ts'
import { BODY_OFFSET, entryBytes, type NameEntry, readEntry } from './name-entry.ts'
import { lookThroughQueue } from './queue-census.ts'
import { lookThroughStack } from './stack-names.ts'

/** Which blocks and tables of a home something names. */
export interface Census {
  readonly blocks: ReadonlySet<number>
  readonly tables: ReadonlySet<number>
  /** Slots whose block is not there for readers yet, and what they are without it. */
  readonly tentative: readonly {
    readonly place: number
    readonly word: bigint
    readonly empty: bigint
    readonly block: BlockName
  }[]
  /** Maps with a bound: where they count, and by how much that is too few at least (or, negative, too many). */
  readonly miscounts: readonly { readonly place: number; readonly entries: number }[]
  readonly objects: readonly NamedObjects[]
}

/** Objects of MV-RLU, and where their body begins. */
export interface NamedObjects {
  readonly name: string
  readonly offset: number
}

interface Found {
  readonly blocks: Set<number>
  readonly tables: Set<number>
  readonly tentative: Census['tentative'][number][]
  readonly miscounts: Census['miscounts'][number][]
  readonly objects: NamedObjects[]
}

/**
 * Look at every name, every slot and every place of a home. The census is not of one moment, and does not have to be:
 * 1. A block stays in the slot that it was put into until it is taken out for good. So a block that was there before
 *    the census began, and is not seen, is out.
 * 2. If a map's table is split meanwhile, a block goes into another table, and stays in the first as long as that is a
 *    table. So a map is looked at again if one of its tables has come or gone.
 */
export async function takeCensus(home: HomeWords): Promise<Census> {
  const found: Found = { blocks: new Set(), tables: new Set(), tentative: [], miscounts: [], objects: [] }
  const names = await home.read(NAMES_OFFSET, NAMES_MAX * 8)
  for (let at = 0; at < NAMES_MAX; at += 1) {
    const block = decodeBlock(names.word(at * 8))
    if (block === undefined) continue
    found.blocks.add(block.offset)
    const entry = await readName(home, block)
    if (entry !== undefined) await lookThrough(home, block, entry, found)
  }
  return found
}

async function readName(home: HomeWords, block: BlockName): Promise<NameEntry | undefined> {
  return readEntry((await home.read(block.offset, entryBytes(block))).bytes)
}

async function lookThrough(home: HomeWords, name: BlockName, entry: NameEntry, found: Found): Promise<void> {
  switch (entry.kind) {
    case StructureKind.map:
      return await lookThroughMap(home, name, entry, found)
    case StructureKind.log:
    case StructureKind.channel:
      for (const table of readLogBody(entry, home.words.ranks)) await lookThroughLog(home, table, found)
      return
    case StructureKind.queue:
      return await lookThroughQueue(home, name.offset + BODY_OFFSET, found.blocks)
    case StructureKind['rcu cell']:
      addVersion(entry, found.blocks)
      return
    case StructureKind['mv-rlu']:
      found.objects.push({ name: entry.name, offset: name.offset + BODY_OFFSET })
      return await lookThroughObjects(home, name.offset + BODY_OFFSET, found)
    case StructureKind.stack:
      return await lookThroughStack(home, name.offset + BODY_OFFSET, found.blocks)
  }
}

/** What a cell has instead of slots. */
function addVersion({ body }: NameEntry, blocks: Set<number>): void {
  const version = decodeBlock(new DataView(body.buffer, body.byteOffset, 8).getBigUint64(0, true))
  if (version !== undefined) blocks.add(version.offset)
}

async function lookThroughLog(home: HomeWords, table: number, { blocks, tables }: Found): Promise<void> {
  tables.add(table)
  const slots = new ReadCommand(table, CHUNK_BYTES)
  await home.run([slots])
  const { buffer, byteOffset } = slots.bytes
  const words = new DataView(buffer, byteOffset, CHUNK_BYTES)
  for (let at = 0; at < CHUNK_BYTES; at += 8) {
    const low = words.getUint32(at, true)
    // Empty, whatever a log has noted in the upper half.
    if (low !== 0) blocks.add(blockOf(words.getUint32(at + 4, true), low).offset)
  }
}

async function lookThroughMap(home: HomeWords, name: BlockName, entry: NameEntry, found: Found): Promise<void> {
  for (let map = readMapBody(entry); ; ) {
    let entries = 0
    for (const table of tablesOf(map.nodes)) entries += await lookThroughTable(home, table, map.buckets, found)
    const again = readMapBody((await readName(home, name))!)
    if (Buffer.compare(again.nodes, map.nodes) === 0) {
      // While a table is split its entries may be met twice.
      if (isBounded(entry) && !isSplitting(map.nodes)) {
        const missing = miscount(map.count, entries, again.count)
        found.miscounts.push({ place: name.offset + BODY_OFFSET + BodyOffset.Count, entries: missing })
      }
      return
    }
    map = again
  }
}

/** Gives how many entries there are. */
async function lookThroughTable(home: HomeWords, table: MapTable, buckets: number, found: Found): Promise<number> {
  let entries = 0
  found.tables.add(tableOffset(table))
  const read = new BucketsRead(table, buckets, 0, buckets)
  await home.run(read.commands)
  const empty = emptySlot(table.generation)
  for (const [{ place, word, block }] of read.fullSlots()) {
    found.blocks.add(block.offset)
    if (block.tentative) found.tentative.push({ place, word, empty, block })
    else entries += 1
  }
  return entries
}
