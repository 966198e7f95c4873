import { must } from '../../../structures/index.ts'
import { NODE_BYTES, NodeOffset } from '../store/ordered-sets.ts'
import type { CheckedBlocks } from './checked-blocks.ts'

/** What a set is of. */
interface Items {
  /** Whether a node is the one that its item has. */
  isOwn(item: number, node: number): boolean
  key(item: number): string
}

/**
 * The set whose root is at `place`: its items come in order, and each node counts what is below it. Returns how many
 * there are. @throws Damage
 */
export function checkSet(blocks: CheckedBlocks, place: number, items: Items): number {
  const { memory } = blocks
  const word = (at: number): number => memory.word(at)
  const countOf = (node: number): number => (node === 0 ? 0 : word(node + NodeOffset.Count))
  const isBefore = (a: number, b: number): boolean => {
    const [first, second] = [memory.float(a + NodeOffset.Score), memory.float(b + NodeOffset.Score)]
    if (first !== second) return first < second
    return items.key(word(a + NodeOffset.Item)) < items.key(word(b + NodeOffset.Item))
  }
  const path: number[] = []
  let [count, above, last] = [0, 0, 0]
  for (let node = word(place); ; ) {
    for (; node !== 0; node = word(node + NodeOffset.Left)) {
      blocks.claim(node, NODE_BYTES, 'a node')
      const isBelow = above === 0 || word(above + NodeOffset.Priority) >= word(node + NodeOffset.Priority)
      must(isBelow && word(node + NodeOffset.Parent) === above, 'a node is not where its parent leads to')
      path.push(node)
      above = node
    }
    const top = path.pop()
    if (top === undefined) return count
    const right = word(top + NodeOffset.Right)
    const below = countOf(word(top + NodeOffset.Left)) + countOf(right)
    must(word(top + NodeOffset.Count) === below + 1, 'a node does not count what is below it')
    must(items.isOwn(word(top + NodeOffset.Item), top), 'a node is not the one that its job has')
    must(last === 0 || isBefore(last, top), 'jobs are not in order')
    count += 1
    last = top
    above = top
    node = right
  }
}
