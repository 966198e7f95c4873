/** What a structure is opened with, besides its name. It is kept with the structure. */
export interface Parameter {
  /** The option's name. */
  readonly name: string
  /** What the opener asks for; undefined: what is there, or `initial` if the structure is new. */
  readonly wanted: number | undefined
  readonly initial: number
  /** True: the latest opener's wish wins, and the others follow at their next look. False: all openers must agree. */
  readonly changes: boolean
  /** The value in words. Default: the number. */
  readonly text?: (value: number) => string
}

/** A bound that may change while the structure is in use. */
export function bound(name: string, wanted: number | undefined, initial: number = 0): Parameter {
  return { name, wanted, initial, changes: true }
}

/** What stays as it was made. */
export function fixed(name: string, wanted: number, text?: (value: number) => string): Parameter {
  return { name, wanted, initial: wanted, changes: false, ...(text === undefined ? {} : { text }) }
}

/** The value in a new structure. */
export function initialValue({ wanted, initial }: Parameter): number {
  return wanted ?? initial
}

/** How the first parameter that does not agree with what is there differs, in words; undefined if all agree. */
export function disagreement(parameters: readonly Parameter[], there: readonly number[]): string | undefined {
  for (const [at, { name, wanted, changes, text = String }] of parameters.entries()) {
    if (changes || wanted === undefined || there[at] === wanted) continue
    return `was made with ${name} ${text(there[at]!)}, opened with ${name} ${text(wanted)}`
  }
  return undefined
}
