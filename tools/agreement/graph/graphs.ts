/**
 * Shared-memory graphs: who shares memory with whom (PODC'18, section 3). An edge means that both ends may access the
 * memory of the other.
 */
import { Random } from 'aether-dsm/internal/runtime'

/** The neighbours of each process, in order and without itself: `Setting.neighbours`. */
export type Neighbours = readonly (readonly number[])[]

type Edge = readonly [number, number]

const ATTEMPTS_MAX = 10_000

/** The graph of these edges. Double edges count once, and loops not at all. */
export function graphOfEdges(processes: number, edges: readonly Edge[]): Neighbours {
  const neighbours = Array.from({ length: processes }, () => new Set<number>())
  for (const [one, other] of edges) {
    if (neighbours[one] === undefined || neighbours[other] === undefined)
      throw new RangeError(`the edge ${one}-${other} leads out of a graph of ${processes} processes`)
    if (one === other) continue
    neighbours[one].add(other)
    neighbours[other].add(one)
  }
  return neighbours.map((each) => [...each].sort((one, other) => one - other))
}

/** No edges: message passing alone. */
export const emptyGraph = (processes: number): Neighbours => graphOfEdges(processes, [])

/** Everyone shares memory with everyone. */
export const completeGraph = (processes: number): Neighbours => graphOfEdges(processes, pairsOf(processes))

export const ringGraph = (processes: number): Neighbours =>
  graphOfEdges(
    processes,
    Array.from({ length: processes }, (_, process): Edge => [process, (process + 1) % processes]),
  )

/** Neighbours differ in one bit of their numbers. */
export function hypercubeGraph(processes: number): Neighbours {
  const dimensions = Math.log2(processes)
  if (!Number.isInteger(dimensions))
    throw new RangeError(`a hypercube has a power of two of processes, and ${processes} is not one`)
  return graphOfEdges(
    processes,
    Array.from({ length: processes }, (_, process) => process).flatMap((process) =>
      Array.from({ length: dimensions }, (_, bit): Edge => [process, process ^ (1 << bit)]),
    ),
  )
}

/**
 * A random graph in which each process has `degree` neighbours, by the configuration model. Ends of edges are paired at
 * random, and again from the start if that gives a loop or a double edge. The same seed gives the same graph.
 */
export function randomRegularGraph(processes: number, degree: number, seed: number): Neighbours {
  if (degree < 0 || degree >= processes || (degree * processes) % 2 === 1)
    throw new RangeError(`no graph of ${processes} processes has ${degree} neighbours for each`)
  const random = new Random(seed)
  // Dense graphs are made by what they leave out: nearly every pairing of theirs has a double edge.
  if (degree > (processes - 1) / 2) return complementOf(randomRegularGraph(processes, processes - 1 - degree, seed))
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const edges = pairing(processes, degree, random)
    if (edges !== undefined) return graphOfEdges(processes, edges)
  }
  throw new RangeError(`no simple graph was drawn in ${ATTEMPTS_MAX} attempts: choose a smaller degree than ${degree}`)
}

/**
 * The expander of Margulis, in the form of Gabber and Galil, on pairs modulo k. It has k * k processes, and at most
 * eight neighbours for each. Source: *Explicit Constructions of Linear-Sized Superconcentrators*, JCSS 22, 1981.
 */
export function margulisGraph(processes: number): Neighbours {
  const side = Math.sqrt(processes)
  if (!Number.isInteger(side))
    throw new RangeError(`a Margulis graph has a square of processes, and ${processes} is not`)
  const at = (x: number, y: number): number => (x % side) * side + (y % side)
  const edges: Edge[] = []
  for (let x = 0; x < side; x += 1)
    for (let y = 0; y < side; y += 1)
      for (const [otherX, otherY] of [
        [x + 2 * y, y],
        [x + 2 * y + 1, y],
        [x, y + 2 * x],
        [x, y + 2 * x + 1],
      ] as const)
        edges.push([at(x, y), at(otherX, otherY)])
  return graphOfEdges(processes, edges)
}

/** The names that `graphNamed` knows. */
const graphNames: readonly string[] = [
  'complete',
  'ring',
  'hypercube',
  'random-DEGREE',
  'margulis',
  'none',
  '0-1,1-2,…',
]

/** A graph by its name, as `hypercube`, or by a list of its edges, as `0-1,1-2`. */
export function graphNamed(name: string, processes: number, seed = 1): Neighbours {
  switch (name) {
    case 'complete':
      return completeGraph(processes)
    case 'ring':
      return ringGraph(processes)
    case 'hypercube':
      return hypercubeGraph(processes)
    case 'margulis':
      return margulisGraph(processes)
    case 'none':
      return emptyGraph(processes)
  }
  const degree = /^random-(\d+)$/.exec(name)?.[1]
  if (degree !== undefined) return randomRegularGraph(processes, Number(degree), seed)
  if (!/^\d+-\d+(,\d+-\d+)*$/.test(name))
    throw new RangeError(`there is no graph '${name}': take one of ${graphNames.join(', ')}`)
  return graphOfEdges(
    processes,
    name.split(',').map((edge): Edge => {
      const [one, other] = edge.split('-') as [string, string]
      return [Number(one), Number(other)]
    }),
  )
}

/** All graphs of that size, one of each shape: those that differ by numbering count once. */
export function graphShapes(processes: number): Neighbours[] {
  const pairs = pairsOf(processes)
  const orders = permutationsOf(processes)
  const shapes = new Map<number, Neighbours>()
  for (let edges = 0; edges < 2 ** pairs.length; edges += 1) {
    const chosen = pairs.filter((_, index) => ((edges >> index) & 1) === 1)
    const shape = Math.min(...orders.map((order) => numberOf(chosen, order, pairs)))
    if (!shapes.has(shape)) shapes.set(shape, graphOfEdges(processes, chosen))
  }
  return [...shapes.values()]
}

/** The renumberings of processes that leave a graph as it is. */
export function automorphismsOf(neighbours: Neighbours): number[][] {
  return permutationsOf(neighbours.length).filter((order) =>
    neighbours.every((each, process) => each.every((other) => neighbours[order[process]!]!.includes(order[other]!))),
  )
}

/** What is wrong with neighbours in a setting of that size; undefined if nothing is. */
export function wrongNeighbours(neighbours: Neighbours, processes: number): string | undefined {
  if (neighbours.length !== processes)
    return `the graph has ${neighbours.length} processes where the setting has ${processes}`
  for (const [process, each] of neighbours.entries())
    for (const other of each) {
      if (other === process) return `process ${process} is its own neighbour`
      if (neighbours[other] === undefined) return `process ${process} has a neighbour ${other} that does not exist`
      if (!neighbours[other].includes(process))
        return `process ${other} is a neighbour of ${process}, but not the other way round`
    }
  return undefined
}

function pairsOf(processes: number): Edge[] {
  const pairs: Edge[] = []
  for (let one = 0; one < processes; one += 1)
    for (let other = one + 1; other < processes; other += 1) pairs.push([one, other])
  return pairs
}

function complementOf(neighbours: Neighbours): Neighbours {
  const { length } = neighbours
  return graphOfEdges(
    length,
    pairsOf(length).filter(([one, other]) => !neighbours[one]!.includes(other)),
  )
}

/** One attempt of the configuration model; undefined if it gives a loop or a double edge. */
function pairing(processes: number, degree: number, random: Random): Edge[] | undefined {
  const ends = Array.from({ length: processes * degree }, (_, end) => Math.floor(end / degree))
  const seen = new Set<number>()
  const edges: Edge[] = []
  const draw = (): number => ends.splice(random.below(ends.length), 1)[0]!
  while (ends.length > 0) {
    const [one, other] = [draw(), draw()]
    const edge = Math.min(one, other) * processes + Math.max(one, other)
    if (one === other || seen.has(edge)) return undefined
    seen.add(edge)
    edges.push([one, other])
  }
  return edges
}

function permutationsOf(count: number): number[][] {
  if (count === 0) return [[]]
  return permutationsOf(count - 1).flatMap((order) =>
    Array.from({ length: count }, (_, place) => order.toSpliced(place, 0, count - 1)),
  )
}

/** Edges after a renumbering, as a number. */
function numberOf(edges: readonly Edge[], order: readonly number[], pairs: readonly Edge[]): number {
  return edges.reduce((sum, [one, other]) => {
    const [low, high] = [Math.min(order[one]!, order[other]!), Math.max(order[one]!, order[other]!)]
    return sum + 2 ** pairs.findIndex((pair) => pair[0] === low && pair[1] === high)
  }, 0)
}
