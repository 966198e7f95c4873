import type { Configuration } from './configuration.ts'
import type { SnapshotHead } from './journal.ts'

/** Configurations, and terms, of which a replica knows where in the log they began. */
const KEPT = 64

/** Where in the log the newest configurations and terms began: what a snapshot up to some entry has to tell. */
export class LogMarks {
  readonly #configurations: { readonly index: number; readonly configuration: Configuration }[] = []
  readonly #terms: { readonly index: number; readonly term: number }[] = [{ index: 0, term: 0 }]

  configured(index: number, configuration: Configuration): void {
    this.#configurations.push({ index, configuration })
    if (this.#configurations.length > KEPT) this.#configurations.shift()
  }

  /** The term's first entry. */
  begun(index: number, term: number): void {
    this.#terms.push({ index, term })
    if (this.#terms.length > KEPT) this.#terms.shift()
  }

  /** What held at that entry; undefined if it is no longer known. */
  at(index: number): SnapshotHead | undefined {
    const known = this.#configurations.findLast((each) => each.index <= index)
    const began = this.#terms.findLast((each) => each.index <= index)
    if (known === undefined || began === undefined) return undefined
    return { index, term: began.term, configuration: known.configuration }
  }
}
