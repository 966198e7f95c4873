import { homesOf, type Model } from './model.ts'

/** New names for nodes and pages under which the model is the same. */
export interface Symmetry {
  /** The new name of each node. */
  readonly nodes: readonly number[]
  /** The new name of each page. */
  readonly pages: readonly number[]
}

/**
 * All of a model's symmetries but the one that changes nothing: nodes and pages may be renamed as long as homes stay
 * homes.
 */
export function symmetriesOf(model: Model): Symmetry[] {
  const homes = homesOf(model)
  return permutations(model.nodes)
    .flatMap((nodes) => permutations(model.pages).map((pages) => ({ nodes, pages })))
    .filter(({ nodes, pages }) => homes.every((home, page) => homes[pages[page]!] === nodes[home]))
    .filter(({ nodes, pages }) => !isIdentity(nodes) || !isIdentity(pages))
}

function permutations(count: number): number[][] {
  if (count === 0) return [[]]
  return permutations(count - 1).flatMap((shorter) =>
    Array.from({ length: count }, (_, at) => [...shorter.slice(0, at), count - 1, ...shorter.slice(at)]),
  )
}

const isIdentity = (names: readonly number[]): boolean => names.every((name, index) => name === index)
