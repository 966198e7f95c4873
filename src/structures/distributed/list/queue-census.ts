import { bytesOfClass, decodeBlock } from '../heap/block-word.ts'
import type { HomeMemory } from '../heap/home-memory.ts'
import { ReadCommand } from '../memory/command.ts'
import { namesBlock, placeOf, readSegment, SEGMENT_HEAD_BYTES, segmentNameIn } from './queue-segment.ts'

/** Of the head of a segment: what comes after it. */
const NEXT = 24

/**
 * Add the segments of a queue and the blocks that its places name to `blocks`. It starts at the head's word, for before
 * it everything was taken.
 *
 * A segment that was emptied and has another use by now shows that the head's word has moved on. Then the look starts
 * again from there. What was found before may stay in the set, for too many blocks do no harm.
 */
export async function lookThroughQueue(memory: HomeMemory, body: number, blocks: Set<number>): Promise<void> {
  while (!(await lookOnce(memory, body, blocks)));
}

async function lookOnce(memory: HomeMemory, body: number, blocks: Set<number>): Promise<boolean> {
  let name = segmentNameIn(await memory.load64(body))
  for (;;) {
    const { offset, sizeClass } = decodeBlock(name)!
    const all = new ReadCommand(offset, bytesOfClass(sizeClass))
    const after = new ReadCommand(offset, SEGMENT_HEAD_BYTES)
    await memory.run([all, after])
    const segment = readSegment(name, after.bytes)
    if (segment === undefined) return false
    blocks.add(offset)
    for (let index = 0; index < segment.places; index += 1) {
      const word = all.word(placeOf({ segment, index }) - offset)
      if (namesBlock(word)) blocks.add(decodeBlock(word)!.offset)
    }
    const next = all.word(NEXT)
    if (!namesBlock(next)) return true
    name = next
  }
}
