/**
 * A binomial tree over 0..size-1 with root 0. The parent of a node is the node with its lowest set bit cleared, so the
 * nodes below one, itself included, are a stretch of numbers.
 */

/** The lowest set bit of a node; of the root, the least power of two that is not below `size`. */
function lowestBit(node: number, size: number): number {
  if (node !== 0) return node & -node
  let bit = 1
  while (bit < size) bit *= 2
  return bit
}

/** The parent of any node but the root. */
export function parentOf(node: number): number {
  return node & (node - 1)
}

/** The children, the one with the most descendants first. */
export function childrenOf(node: number, size: number): number[] {
  const children: number[] = []
  for (let bit = lowestBit(node, size) / 2; bit >= 1; bit /= 2) if (node + bit < size) children.push(node + bit)
  return children
}

/** How many nodes are at or below `node`: the numbers from `node` on. */
export function subtreeSize(node: number, size: number): number {
  return Math.min(lowestBit(node, size), size - node)
}
