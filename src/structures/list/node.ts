import { type Heap, offsetOf } from '../heap/heap.ts'
import { Reach } from '../heap/reach.ts'
import type { ValueCopy } from '../values/value-reader.ts'

/**
 * A node of a queue or a stack. Its value never changes.
 *
 * ```
 *  0 linked   4 next: its reference, 0 at the end   8 number   12 length of the value   16 value
 * ```
 *
 * The number is one more than that of the node before (in a stack, below), so lengths are differences and nothing is
 * counted.
 */
export const NodeOffset = { Linked: 0, Next: 4, Number: 8, Length: 12, Value: 16 } as const

/** Take and fill a node; the intent has begun. */
export function makeNode(heap: Heap, value: Uint8Array): number {
  const { memory } = heap
  const { reference } = heap.allocate(NodeOffset.Value + value.length)
  const at = offsetOf(reference)
  memory.poke(at + NodeOffset.Linked, 0)
  memory.poke(at + NodeOffset.Next, 0)
  memory.poke(at + NodeOffset.Number, 0)
  memory.poke(at + NodeOffset.Length, value.length)
  memory.write(at + NodeOffset.Value, value, value.length)
  return reference
}

/**
 * Put a node with `value` into the list that starts at `head`. `link` does it, within an epoch, and ends the intent.
 * False if `link` reports that there is no room.
 * @throws HeapFullError
 */
export function pushNode(heap: Heap, head: number, value: Uint8Array, link: (node: number) => boolean): boolean {
  const { intent, epochs } = heap
  intent.begin(head, Reach.List)
  const node = makeNode(heap, value)
  epochs.enter()
  try {
    if (link(node)) return true
  } finally {
    epochs.exit()
  }
  heap.release(node)
  intent.end()
  return false
}

export function nextOf(heap: Heap, node: number): number {
  return heap.memory.load(offsetOf(node) + NodeOffset.Next)
}

export function numberOf(heap: Heap, node: number): number {
  return heap.memory.peek(offsetOf(node) + NodeOffset.Number)
}

/** Copy its value. */
export function readValue(heap: Heap, node: number, into: ValueCopy): void {
  into.copy(offsetOf(node) + NodeOffset.Value, heap.memory.peek(offsetOf(node) + NodeOffset.Length))
}

/** Call before a node is unlinked. If the member that linked it was killed at once, this settles its intent. */
export function noteLinked(heap: Heap, node: number): void {
  if (heap.memory.peek(offsetOf(node)) === 0) heap.memory.store(offsetOf(node), 1)
}

/** For recovery: whether a node is in the list that begins at the one whose reference is at `head`. */
export function isInList(heap: Heap, head: number, reference: number): boolean {
  for (let node = heap.memory.load(head); node !== 0; node = nextOf(heap, node)) if (node === reference) return true
  return false
}
