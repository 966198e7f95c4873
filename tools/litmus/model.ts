import { packOutcome } from './outcome.ts'
import type { Operation, Program } from './shape.ts'

/** What is asked of the memory: `sequential` consistency, or `coherence` of each location by itself. */
export type Demand = 'sequential' | 'coherence'

/** Every outcome that the demand allows, by trying all interleavings: shapes are small. */
export function allowedOutcomes(program: Program, demand: Demand): ReadonlySet<number> {
  if (demand === 'sequential') return new Set([...interleave(program, program.processes)].map(packOutcome))
  return coherentOutcomes(program)
}

/**
 * What the processes give when each runs whole, one after the other: any other outcome shows that they did run at the
 * same time.
 */
export function serialOutcomes(program: Program): ReadonlySet<number> {
  const outcomes = new Set<number>()
  for (const order of permutations(program.processes))
    for (const codes of interleave(program, [order.flat()])) outcomes.add(packOutcome(codes))
  return outcomes
}

function* permutations<T>(items: readonly T[]): Generator<readonly T[]> {
  if (items.length === 0) yield []
  for (const [index, first] of items.entries())
    for (const rest of permutations(items.toSpliced(index, 1))) yield [first, ...rest]
}

/** Locations are independent of each other: the product of what each allows to the operations on it alone. */
function coherentOutcomes(program: Program): ReadonlySet<number> {
  let outcomes = new Set([0])
  for (const [location] of program.locations.entries()) {
    const alone = program.processes.map((operations) => operations.filter((each) => each.location === location))
    const own = new Set<number>()
    for (const codes of interleave(program, alone)) {
      const mine = codes.map((code, field) => (belongsTo(program, field, location) ? code : 0))
      own.add(packOutcome(mine))
    }
    outcomes = new Set([...outcomes].flatMap((outcome) => [...own].map((part) => outcome | part)))
  }
  return outcomes
}

function belongsTo(program: Program, field: number, location: number): boolean {
  const described = program.fields[field]!
  if (described.kind === 'final') return described.location === location
  return program.processes.flat().some((operation) => operation.field === field && operation.location === location)
}

/** The codes of all fields for every interleaving. */
function* interleave(program: Program, processes: readonly (readonly Operation[])[]): Generator<number[]> {
  const memory = program.locations.map(() => 0)
  const codes = program.fields.map(() => 0)
  const at = processes.map(() => 0)
  yield* from()

  function* from(): Generator<number[]> {
    let over = true
    for (const [process, operations] of processes.entries()) {
      const operation = operations[at[process]!]
      if (operation === undefined) continue
      over = false
      const { location, field, isStore, value } = operation
      const before = isStore ? memory[location]! : codes[field]!
      if (isStore) memory[location] = value
      else codes[field] = memory[location]!
      at[process]! += 1
      yield* from()
      at[process]! -= 1
      if (isStore) memory[location] = before
      else codes[field] = before
    }
    if (over) yield codes.map((code, field) => finalOr(code, field))
  }

  function finalOr(code: number, field: number): number {
    const described = program.fields[field]!
    return described.kind === 'final' ? memory[described.location]! : code
  }
}
