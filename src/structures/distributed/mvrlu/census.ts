import { type BlockName, bytesOfClass, decodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { ReadCommand } from '../memory/command.ts'
import { CHUNK_BYTES } from '../memory/layout.ts'
import { BodyOffset, namesVersion, SLOT_BYTES, SLOTS_PER_TABLE, SlotOffset, TABLES_MAX } from './layout.ts'
import { tablesIn } from './object-slots.ts'
import { readVersionHead, VERSION_BYTES } from './version.ts'
import { readWriteSet } from './write-set.ts'

interface Named {
  readonly blocks: Set<number>
  readonly tables: Set<number>
}

/**
 * Add the blocks and tables of some objects:
 * 1. The last write set and, if it is not finished, the versions that it is about to put in. This comes first. If the
 *    write set turns out to be finished afterwards, the versions read from it are in a head or below one.
 * 2. The versions that heads name.
 * 3. The versions below, of slots whose lock is not 0.
 */
export async function lookThroughObjects(memory: HomeMemory, body: number, { blocks, tables }: Named): Promise<void> {
  while (!(await lookAtLast(memory, body, blocks)));
  for (const table of tablesIn((await memory.read(body + BodyOffset.Tables, TABLES_MAX * 8)).bytes)) {
    tables.add(table)
    await lookThroughTable(memory, table, blocks)
  }
}

/** False where it is another by now. */
async function lookAtLast(memory: HomeMemory, body: number, blocks: Set<number>): Promise<boolean> {
  const name = decodeBlock(await memory.load64(body + BodyOffset.Last))
  if (name === undefined) return true
  blocks.add(name.offset)
  if (!name.tentative) return true
  const set = readWriteSet(name, (await memory.read(name.offset, bytesOfClass(name.sizeClass))).bytes)
  for (const { after } of set?.entries ?? []) addVersion(after, blocks)
  return set !== undefined
}

/**
 * The heads, and then the locks: of a version that is wanted still when the lock is read as 0, the head that was read
 * before is the name. Chains grow at the head and are cut below. Where one leads to what is no version any more, it was
 * cut above, and what is above that was committed after the look at the heads.
 */
async function lookThroughTable(memory: HomeMemory, table: number, blocks: Set<number>): Promise<void> {
  const heads = new ReadCommand(table, CHUNK_BYTES)
  const locks = new ReadCommand(table, CHUNK_BYTES)
  await memory.run([heads, locks])
  let chains: BlockName[] = []
  for (let at = 0; at < SLOTS_PER_TABLE; at += 1) {
    const name = addVersion(heads.word(at * SLOT_BYTES + SlotOffset.Head), blocks)
    if (name !== undefined && locks.word(at * SLOT_BYTES + SlotOffset.Lock) !== 0n) chains.push(name)
  }
  while (chains.length > 0) {
    const reads = chains.map(({ offset }) => new ReadCommand(offset, VERSION_BYTES))
    await memory.runAll(reads)
    chains = chains.flatMap((name, at) => {
      const older = readVersionHead(name, reads[at]!.bytes)?.older ?? 0n
      const below = addVersion(older, blocks)
      return below === undefined ? [] : [below]
    })
  }
}

function addVersion(word: bigint, blocks: Set<number>): BlockName | undefined {
  if (!namesVersion(word)) return undefined
  const name = decodeBlock(word)!
  blocks.add(name.offset)
  return name
}
