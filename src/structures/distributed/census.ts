import { StructureKind } from '../heap/structure-kind.ts'
import { type BlockName, decodeBlock } from './heap/block-word.ts'
import type { Census, Found } from './heap/census.ts'
import type { HomeMemory } from './heap/home-memory.ts'
import { BODY_OFFSET, type NameEntry, readEntryAt } from './heap/name-entry.ts'
import { lookThroughQueue } from './list/queue-census.ts'
import { lookThroughStack } from './list/stack-names.ts'
import { lookThroughLog } from './log/census.ts'
import { lookThroughMap } from './map/census.ts'
import { NAMES_MAX, NAMES_OFFSET } from './memory/layout.ts'
import { lookThroughObjects } from './mvrlu/census.ts'

/**
 * Look at every name, every slot and every place of a home. The census is not of one moment, and does not have to be:
 * 1. A block stays in the slot that it was put into until it is taken out for good. So a block that was there before
 *    the census began, and is not seen, is out.
 * 2. If a map's table is split meanwhile, a block goes into another table, and stays in the first as long as that is a
 *    table. So a map is looked at again if one of its tables has come or gone.
 */
export async function takeCensus(memory: HomeMemory): Promise<Census> {
  const found: Found = { blocks: new Set(), tables: new Set(), tentative: [], miscounts: [], objects: [] }
  const names = await memory.read(NAMES_OFFSET, NAMES_MAX * 8)
  for (let at = 0; at < NAMES_MAX; at += 1) {
    const block = decodeBlock(names.word(at * 8))
    if (block === undefined) continue
    found.blocks.add(block.offset)
    const entry = await readEntryAt(memory, block)
    if (entry !== undefined) await lookThrough(memory, block, entry, found)
  }
  return found
}

async function lookThrough(memory: HomeMemory, name: BlockName, entry: NameEntry, found: Found): Promise<void> {
  switch (entry.kind) {
    case StructureKind.map:
      return await lookThroughMap(memory, name, entry, found)
    case StructureKind.log:
    case StructureKind.channel:
      return await lookThroughLog(memory, entry, found)
    case StructureKind.queue:
      return await lookThroughQueue(memory, name.offset + BODY_OFFSET, found.blocks)
    case StructureKind['rcu cell']:
      addVersion(entry, found.blocks)
      return
    case StructureKind['mv-rlu']:
      found.objects.push({ name: entry.name, offset: name.offset + BODY_OFFSET })
      return await lookThroughObjects(memory, name.offset + BODY_OFFSET, found)
    case StructureKind.stack:
      return await lookThroughStack(memory, name.offset + BODY_OFFSET, found.blocks)
  }
}

/** What a cell has instead of slots. */
function addVersion({ body }: NameEntry, blocks: Set<number>): void {
  const version = decodeBlock(new DataView(body.buffer, body.byteOffset, 8).getBigUint64(0, true))
  if (version !== undefined) blocks.add(version.offset)
}
