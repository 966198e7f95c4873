import { blockOf } from '../heap/block-word.ts'
import type { Found } from '../heap/census.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import type { NameEntry } from '../heap/name-entry.ts'
import { ReadCommand } from '../memory/command.ts'
import { CHUNK_BYTES } from '../memory/layout.ts'
import { readLogBody } from './body.ts'

/** Add the tables of a log, and the blocks that its slots name. */
export async function lookThroughLog(memory: HomeMemory, entry: NameEntry, found: Found): Promise<void> {
  for (const table of readLogBody(entry, memory.group.ranks)) await lookThroughTable(memory, table, found)
}

async function lookThroughTable(memory: HomeMemory, table: number, { blocks, tables }: Found): Promise<void> {
  tables.add(table)
  const slots = new ReadCommand(table, CHUNK_BYTES)
  await memory.run([slots])
  const { buffer, byteOffset } = slots.bytes
  const words = new DataView(buffer, byteOffset, CHUNK_BYTES)
  for (let at = 0; at < CHUNK_BYTES; at += 8) {
    const low = words.getUint32(at, true)
    // Empty, whatever a log has noted in the upper half.
    if (low !== 0) blocks.add(blockOf(words.getUint32(at + 4, true), low).offset)
  }
}
