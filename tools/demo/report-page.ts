/** A page a member. */
export const reportBytes = 4096

/** What a member has to say when it is done, in the order in which it lies on the page. Times in milliseconds. */
const fields = [
  /** Incoming edges of the vertices it ranks. */
  'edges',
  /** From an empty region to the graph being in it and known to all. */
  'shareMs',
  /** From the first iteration to the last, barriers included. */
  'totalMs',
  'computeMs',
  /** Asking ahead for pages. */
  'fetchMs',
  /** In barriers. */
  'waitMs',
  'iterations',
  /** The last L1 change. */
  'change',
  /** Page faults in the iterations: those that the agent answered, or for `hardware` those of the kernel. */
  'faults',
  /** The median time from the request for a page to its arrival; 0 for `hardware`, which is not measured. */
  'pageMs',
  'pagesIn',
  'bytesIn',
  'bytesOut',
] as const

/** The fields by name. */
export type MemberReport = Readonly<Record<(typeof fields)[number], number>>

const iterationAt = 0
const changeAt = 1
const doneAt = 2
const fieldsAt = 8

/** How far a member is, and in the end its report, in shared memory. One member writes it; the demo reads. */
export class ReportPage {
  readonly #words: Float64Array

  constructor(words: Float64Array) {
    this.#words = words
  }

  showProgress(iteration: number, change: number): void {
    this.#words[changeAt] = change
    this.#words[iterationAt] = iteration
  }

  get progress(): { readonly iteration: number; readonly change: number } {
    return { iteration: this.#words[iterationAt]!, change: this.#words[changeAt]! }
  }

  write(report: MemberReport): void {
    for (const [index, field] of fields.entries()) this.#words[fieldsAt + index] = report[field]
    this.#words[doneAt] = 1
  }

  /** The report, or undefined where the member ended without one. */
  read(): MemberReport | undefined {
    if (this.#words[doneAt] !== 1) return undefined
    return Object.fromEntries(fields.map((field, index) => [field, this.#words[fieldsAt + index]!])) as MemberReport
  }
}
