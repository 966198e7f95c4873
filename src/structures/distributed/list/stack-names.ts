import { bytesOfClass, decodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { headBytes, readBlockHead } from '../heap/value-block.ts'

/** Blocks of a stack that lie on each other, from the bottom on, are in groups of this many. */
const GROUP = 16

/** The head of a block of a stack: its depth, from 1 on, and at most this many names. */
export const STACK_HEAD_BYTES_MAX: number = headBytes(1 + GROUP)

/**
 * The names in a block that is put onto one of this depth with these names. First those below it in its group, the
 * nearest first, then the one on top of the group below (0: none).
 */
export function namesAbove(word: bigint, depth: number, names: readonly bigint[]): readonly bigint[] {
  return depth % GROUP === 0 ? [word] : [word, ...names]
}

/** The names in the block below one with these; undefined where they do not say. */
export function belowIn(names: readonly bigint[]): readonly bigint[] | undefined {
  return names.length > 1 ? names.slice(1) : undefined
}

/**
 * Add the blocks of a stack to `blocks`: one READ for each group, for the names of all others are in its topmost block.
 *
 * What lies on the stack while this goes on was there when the word of the top was read. What lies below a block never
 * changes, so it is found. A block that is another by now was taken away, and with it all above it. Then the look
 * starts again, on a stack that is less high.
 */
export async function lookThroughStack(memory: HomeMemory, place: number, blocks: Set<number>): Promise<void> {
  while (!(await lookOnce(memory, place, blocks)));
}

async function lookOnce(memory: HomeMemory, place: number, blocks: Set<number>): Promise<boolean> {
  for (let word = await memory.load64(place); word !== 0n; ) {
    const name = decodeBlock(word)!
    const lengthBytes = Math.min(STACK_HEAD_BYTES_MAX, bytesOfClass(name.sizeClass))
    const head = readBlockHead(name, (await memory.read(name.offset, lengthBytes)).bytes)
    if (head === undefined) return false
    const [, ...names] = head.words
    blocks.add(name.offset)
    for (const other of names) blocks.add(decodeBlock(other)?.offset ?? name.offset)
    word = names.at(-1)!
  }
  return true
}
