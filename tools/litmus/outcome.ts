import { type Program, VALUE_MAX } from './shape.ts'

/**
 * An outcome is one number with two bits for each field, the first field lowest. Codes 0, 1 and 2 are values. 3 is a
 * value that no rank stored in this round: stale or torn.
 */
export const FIELD_BITS = 2
const FOREIGN: number = VALUE_MAX + 1

/** The most fields a shape has, so how many outcomes a table needs. */
export const FIELDS_MAX = 7
export const OUTCOMES_MAX: number = 1 << (FIELD_BITS * FIELDS_MAX)

/** The code of a value read in a round whose values are counted from `base`. */
export function codeOf(value: number, base: number): number {
  const code = value - base
  return code >= 0 && code <= VALUE_MAX ? code : FOREIGN
}

export function packOutcome(codes: readonly number[]): number {
  return codes.reduce((outcome, code, field) => outcome | (code << (FIELD_BITS * field)), 0)
}

function codeAt(outcome: number, field: number): number {
  return (outcome >>> (FIELD_BITS * field)) & FOREIGN
}

/**
 * `1,0|0 x=2`: what the loads of each process gave, then what is left where more than one store decides it. `?` is a
 * foreign value.
 */
export function formatOutcome(program: Program, outcome: number): string {
  const text = (field: number): string => (codeAt(outcome, field) === FOREIGN ? '?' : String(codeAt(outcome, field)))
  const loads: string[][] = program.processes.map(() => [])
  const finals: string[] = []
  for (const [index, field] of program.fields.entries()) {
    if (field.kind === 'load') loads[field.process]!.push(text(index))
    else if (field.stores > 1 || codeAt(outcome, index) === FOREIGN)
      finals.push(`${program.locations[field.location]}=${text(index)}`)
  }
  const seen = loads.filter((values) => values.length > 0).map((values) => values.join(','))
  return [...(seen.length > 0 ? [seen.join('|')] : []), ...finals].join(' ') || 'done'
}

/** Whether `outcome` is one that `condition` (see {@link Shape.forbidden}) describes. @throws SyntaxError */
export function satisfies(program: Program, outcome: number, condition: string): boolean {
  return condition.split(' ').every((term) => {
    const [, process, load, location, value] = /^(?:(\d):(\d)|([xyz]))=(\d)$/.exec(term) ?? []
    const index = program.fields.findIndex((field) =>
      field.kind === 'load'
        ? String(field.process) === process && String(field.load) === load
        : program.locations[field.location] === location,
    )
    if (index < 0) throw new SyntaxError(`'${term}' of shape ${program.shape.name} names nothing in it`)
    return codeAt(outcome, index) === Number(value)
  })
}
