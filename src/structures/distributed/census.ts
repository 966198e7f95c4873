import { StructureKind } from '../heap/directory.ts'
import { type BlockName, blockOf, decodeBlock } from './block-word.ts'
import { ReadCommand } from './command.ts'
import type { HomeWords } from './home-words.ts'
import { CHUNK_BYTES, NAMES_MAX, NAMES_OFFSET } from './layout.ts'
import { readMapBody } from './map-body.ts'
import { entryBytes, readEntry } from './name-entry.ts'

/** Which blocks and tables of a home something names. */
export interface Census {
  readonly blocks: ReadonlySet<number>
  readonly tables: ReadonlySet<number>
  /** Slots whose block is not there for readers yet. */
  readonly tentative: readonly { readonly place: number; readonly word: bigint; readonly block: BlockName }[]
}

/**
 * Look at every name and every slot of a home. It is not of one moment, and need not be: a block stays in the slot that it was put into until it is
 * taken out for good, so one that was there before the census began, and is not seen, is out.
 */
export async function takeCensus(home: HomeWords): Promise<Census> {
  const blocks = new Set<number>()
  const tables = new Set<number>()
  const tentative: Census['tentative'][number][] = []
  const names = await home.read(NAMES_OFFSET, NAMES_MAX * 8)
  for (let at = 0; at < NAMES_MAX; at += 1) {
    const block = decodeBlock(names.word(at * 8))
    if (block === undefined) continue
    blocks.add(block.offset)
    const entry = readEntry((await home.read(block.offset, entryBytes(block))).bytes)
    if (entry?.kind === StructureKind.map) for (const table of readMapBody(entry).tables) tables.add(table)
  }
  for (const table of tables) await lookThrough(home, table, blocks, tentative)
  return { blocks, tables, tentative }
}

async function lookThrough(
  home: HomeWords,
  table: number,
  blocks: Set<number>,
  tentative: Census['tentative'][number][],
): Promise<void> {
  const slots = new ReadCommand(table, CHUNK_BYTES)
  await home.run([slots])
  const { buffer, byteOffset } = slots.bytes
  const words = new DataView(buffer, byteOffset, CHUNK_BYTES)
  for (let at = 0; at < CHUNK_BYTES; at += 8) {
    const low = words.getUint32(at, true)
    const high = words.getUint32(at + 4, true)
    if (low === 0 && high === 0) continue
    const block = blockOf(high, low)
    blocks.add(block.offset)
    if (block.tentative) tentative.push({ place: table + at, word: slots.word(at), block })
  }
}
