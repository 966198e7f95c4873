/**
 * A litmus shape: a few operations per process on a few locations, and the outcome that sequential consistency forbids.
 *
 * Operations are written as in the literature: `Wx1` stores 1 to x, `Rx` loads x. Every location is 0 at the beginning.
 */
export interface Shape {
  readonly name: string
  /** What the forbidden outcome would mean. */
  readonly describe: string
  /** Where the shape is from. */
  readonly source: string
  /** Program order of each process. */
  readonly processes: readonly (readonly string[])[]
  /**
   * `process:load=value` for what a load gave (loads counted within their process), `location=value` for what is left
   * in the end.
   */
  readonly forbidden: string
}

/** An operation, parsed. */
export interface Operation {
  readonly isStore: boolean
  /** Index into {@link Program.locations}. */
  readonly location: number
  /** What is stored. */
  readonly value: number
  /** Which field of the outcome the load fills; -1 for a store. */
  readonly field: number
}

/** What one field of an outcome tells: what a load gave, or what a location holds in the end. */
type Field =
  | { readonly kind: 'load'; readonly process: number; readonly load: number }
  | { readonly kind: 'final'; readonly location: number; readonly stores: number }

/** A shape, parsed. Fields are all loads, process by process, then all locations. */
export interface Program {
  readonly shape: Shape
  readonly processes: readonly (readonly Operation[])[]
  readonly locations: readonly string[]
  readonly fields: readonly Field[]
}

/** A shape may store 1 and 2. Two bits for each field leave one code for a value that no rank stored. */
export const VALUE_MAX = 2

/** @throws SyntaxError where an operation is not one. */
export function parseShape(shape: Shape): Program {
  const locations = [...new Set(shape.processes.flat().map((text) => text[1]!))].sort()
  const fields: Field[] = []
  const processes = shape.processes.map((operations, process) => {
    let load = 0
    return operations.map((text) => {
      const [, kind, location, value] = /^(?:([RW])([xyz])([12])?)$/.exec(text) ?? []
      if (location === undefined || (kind === 'W') !== (value !== undefined))
        throw new SyntaxError(`'${text}' of shape ${shape.name} is neither Wx1 nor Rx`)
      const isStore = kind === 'W'
      const field = isStore ? -1 : fields.push({ kind: 'load', process, load: load++ }) - 1
      return { isStore, location: locations.indexOf(location), value: Number(value ?? 0), field }
    })
  })
  for (const [location] of locations.entries()) {
    const stores = processes.flat().filter((operation) => operation.isStore && operation.location === location).length
    fields.push({ kind: 'final', location, stores })
  }
  return { shape, processes, locations, fields }
}
