import { NodeOffset } from '../list/node.ts'
import { QueueOffset } from '../list/queue-core.ts'
import { LIST_WORDS_OFFSET } from '../list/value-list.ts'
import { ChainSight, nextOf } from './chain-sight.ts'
import { boundText, type ContentItem, type StructureContents, type StructureOptions } from './contents.ts'
import type { StructureFigures } from './figures.ts'
import type { BlockSight, HeapSight } from './heap-sight.ts'
import type { NamedStructure } from './named-structures.ts'
import { SAMPLE_MAX, scaled } from './sample.ts'
import { codecName, valueText } from './value-text.ts'

/**
 * The length is exact: the number of the last node less that of the dummy, both at one moment. The bytes are those of
 * up to {@link SAMPLE_MAX} nodes from the head on, times the length.
 */
export function queueSight(heap: HeapSight, { body, block }: NamedStructure): StructureFigures {
  const chain = chainOf(heap, body)
  if (!chain.begun) return { entries: 0, bytes: block.lengthBytes }
  const length = chain.atEnds(({ dummy, last }) => {
    const between = (numberOf(heap, last) - numberOf(heap, dummy)) | 0
    return between < 0 ? undefined : between
  })
  if (length === undefined) return { isChanging: true }
  let seen = 0
  let inNodes = 0
  const isWhole = chain.walk(SAMPLE_MAX, ({ lengthBytes }) => {
    seen += 1
    inNodes += lengthBytes
  })
  return { entries: length, ...together(block, isWhole ? inNodes : scaled(inNodes, seen, length + 1), isWhole) }
}

/** The depth is exact: the number of the node on top. The bytes are estimated as those of a queue. */
export function stackSight(heap: HeapSight, { body, block }: NamedStructure): StructureFigures {
  const top = body + LIST_WORDS_OFFSET
  if (heap.word(top) === 0) return { entries: 0, bytes: block.lengthBytes }
  const depth = heap.settled(() => heap.through(top, (node) => positive(numberOf(heap, node))))
  if (depth === undefined) return { isChanging: true }
  let seen = 0
  let inNodes = 0
  const isWhole = descend(heap, top, SAMPLE_MAX, ({ lengthBytes }) => {
    seen += 1
    inNodes += lengthBytes
  })
  return { entries: depth, ...together(block, isWhole ? inNodes : scaled(inNodes, seen, depth), isWhole) }
}

/** The values that are popped next. */
export function queueContents(heap: HeapSight, structure: NamedStructure, most: number): StructureContents {
  const { body, parameters } = structure
  const items: ContentItem[] = []
  const chain = chainOf(heap, body)
  let isDummy = true
  const isWhole =
    !chain.begun ||
    chain.walk(most, (node) => {
      if (!isDummy) items.push(itemOf(heap, node, items.length, parameters[1]))
      isDummy = false
    })
  return { title: 'next values', items, isWhole }
}

export function stackContents(heap: HeapSight, structure: NamedStructure, most: number): StructureContents {
  const { body, parameters } = structure
  const items: ContentItem[] = []
  const isWhole = descend(heap, body + LIST_WORDS_OFFSET, most, (node) => {
    items.push(itemOf(heap, node, items.length, parameters[1]))
  })
  return { title: 'next values', items, isWhole }
}

function chainOf(heap: HeapSight, body: number): ChainSight {
  const words = body + LIST_WORDS_OFFSET
  return new ChainSight(heap, words + QueueOffset.Head, words + QueueOffset.Tail)
}

/**
 * Call `visit` with up to `most` nodes from the top down. Returns whether it came to the last one. It ends early where
 * the next node was taken away meanwhile.
 */
function descend(heap: HeapSight, top: number, most: number, visit: (node: BlockSight) => void): boolean {
  if (heap.word(top) === 0) return true
  let node = heap.settled(() => heap.through(top, (found) => found))
  for (let count = 1; node !== undefined; count += 1) {
    visit(node)
    const next: BlockSight | 'end' | undefined = nextOf(heap, node)
    if (next === 'end') return true
    if (count === most) return false
    node = next
  }
  return false
}

function together(block: BlockSight, inNodes: number | undefined, isWhole: boolean): StructureFigures {
  if (inNodes === undefined) return { isChanging: true }
  return { bytes: block.lengthBytes + inNodes, isEstimate: !isWhole }
}

function itemOf(heap: HeapSight, node: BlockSight, position: number, codec: number | undefined): ContentItem {
  const length = heap.word(node.offset + NodeOffset.Length)
  return { label: String(position + 1), text: valueText(heap, node, NodeOffset.Value, length, codec) ?? 'changing' }
}

/** Of queues and stacks. */
export function listOptions(_heap: HeapSight, { parameters }: NamedStructure): StructureOptions {
  const [capacity, codec] = parameters
  return [
    ['capacity', boundText(capacity)],
    ['codec', codecName(codec)],
  ]
}

function numberOf(heap: HeapSight, node: BlockSight): number {
  return heap.word(node.offset + NodeOffset.Number)
}

function positive(number: number): number | undefined {
  return number > 0 ? number : undefined
}
