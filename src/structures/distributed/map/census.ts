import type { BlockName } from '../heap/block-word.ts'
import type { Found } from '../heap/census.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { BODY_OFFSET, type NameEntry, readEntryAt } from '../heap/name-entry.ts'
import { BodyOffset, isBounded, readMapBody } from './body.ts'
import { miscount } from './count.ts'
import { BucketsRead, emptySlot } from './slot.ts'
import { isSplitting, type MapTable, tableOffset, tablesOf } from './tree.ts'

/**
 * Add the tables of a map, and the blocks in their slots. It starts again if one of the tables has come or gone
 * meanwhile.
 */
export async function lookThroughMap(
  memory: HomeMemory,
  name: BlockName,
  entry: NameEntry,
  found: Found,
): Promise<void> {
  for (let map = readMapBody(entry); ; ) {
    let entries = 0
    for (const table of tablesOf(map.nodes)) entries += await lookThroughTable(memory, table, map.buckets, found)
    const again = readMapBody((await readEntryAt(memory, name))!)
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
async function lookThroughTable(memory: HomeMemory, table: MapTable, buckets: number, found: Found): Promise<number> {
  let entries = 0
  found.tables.add(tableOffset(table))
  const read = new BucketsRead(table, buckets, 0, buckets)
  await memory.run(read.commands)
  const empty = emptySlot(table.generation)
  for (const [{ place, word, block }] of read.fullSlots()) {
    found.blocks.add(block.offset)
    if (block.tentative) found.tentative.push({ place, word, empty, block })
    else entries += 1
  }
  return entries
}
