import { NodeOffset } from '../list/node.ts'
import { QueueOffset } from '../list/queue-core.ts'
import { LIST_WORDS_OFFSET } from '../list/value-list.ts'
import type { BlockSight } from '../sight/heap-sight.ts'
import { checkValue } from './check-value.ts'
import type { CheckedPart, CheckedStructure } from './checked-heap.ts'
import { must } from './damage.ts'

/** Called with each node of a chain, and the one before. The first is the dummy, which has none before it. */
export type VisitNode = (node: BlockSight, before: BlockSight | undefined) => void

/**
 * The nodes of a chain (../list/chain.ts) from its dummy to its end: each once, and one of them is the tail. Returns
 * how many come after the dummy. @throws Damage
 */
export function checkChain(
  { heap, claimant }: Omit<CheckedPart, 'body'>,
  ends: { readonly head: number; readonly tail: number; readonly nodeBytes: number },
  visit: VisitNode,
): number {
  const { sight } = heap
  const tail = sight.word(ends.tail)
  let reference = sight.word(ends.head)
  must(reference !== 0 || tail === 0, 'it has a last node, and no first')
  let before: BlockSight | undefined
  let nodes = 0
  let isTailThere = tail === 0
  for (; reference !== 0; nodes += 1) {
    const node = claimant.claim(reference, ends.nodeBytes, 'a node')
    must((sight.word(node.offset) & ~1) === 0, 'the mark of a node is not one')
    visit(node, before)
    isTailThere ||= reference === tail
    before = node
    reference = sight.word(node.offset + NodeOffset.Next)
  }
  must(isTailThere, 'what it has as its last node is not one of its nodes')
  must(tail !== 0 || nodes <= 1, 'it has nodes, and no last one')
  return Math.max(0, nodes - 1)
}

/** The nodes of a queue's chain are numbered in a row. Returns how many come after the dummy. @throws Damage */
export function checkQueueChain(part: CheckedPart, visit: VisitNode): number {
  const { heap, body } = part
  const ends = { head: body + QueueOffset.Head, tail: body + QueueOffset.Tail, nodeBytes: NodeOffset.Value }
  return checkChain(part, ends, (node, before) => {
    const isNext = before === undefined || numberOf(part, node) === ((numberOf(part, before) + 1) | 0)
    must(isNext, 'its values are not numbered in a row')
    checkLength(heap.sight.word(node.offset + NodeOffset.Length), node)
    visit(node, before)
  })
}

/** Returns the number of its values. @throws Damage */
export function checkQueue({ parameters, ...structure }: CheckedStructure): number {
  const { heap } = structure
  return checkQueueChain({ ...structure, body: structure.body + LIST_WORDS_OFFSET }, (node, before) => {
    // The dummy's value was popped.
    if (before !== undefined) checkNodeValue(heap, node, parameters[1])
  })
}

/** From the top down, numbers fall to 1. Returns the number of its values. @throws Damage */
export function checkStack(structure: CheckedStructure): number {
  const { heap, claimant, body, parameters } = structure
  const { sight } = heap
  let reference = sight.word(body + LIST_WORDS_OFFSET)
  let number = 0
  let nodes = 0
  for (; reference !== 0; nodes += 1) {
    const node = claimant.claim(reference, NodeOffset.Value, 'a node')
    must((sight.word(node.offset) & ~1) === 0, 'the mark of a node is not one')
    must(nodes === 0 || numberOf(structure, node) === number - 1, 'its values are not numbered in a row')
    number = numberOf(structure, node)
    checkLength(sight.word(node.offset + NodeOffset.Length), node)
    checkNodeValue(heap, node, parameters[1])
    reference = sight.word(node.offset + NodeOffset.Next)
  }
  must(nodes === 0 || number === 1, 'the values at its bottom are missing')
  return nodes
}

function checkNodeValue(heap: CheckedPart['heap'], { offset }: BlockSight, codec: number | undefined): void {
  checkValue(heap, offset + NodeOffset.Value, heap.sight.word(offset + NodeOffset.Length), codec, 'a value')
}

function checkLength(length: number, { lengthBytes }: BlockSight): void {
  must(length >= 0 && NodeOffset.Value + length <= lengthBytes, 'a value is longer than its block')
}

function numberOf({ heap }: Pick<CheckedPart, 'heap'>, { offset }: BlockSight): number {
  return heap.sight.word(offset + NodeOffset.Number)
}
