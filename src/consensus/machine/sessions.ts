import type { ByteReader } from './byte-reader.ts'
import type { ByteWriter } from './byte-writer.ts'
import { ACKNOWLEDGED, type Outcome, type StoredOutcome } from './outcome.ts'

/**
 * What was applied of one proposer. Commands may come in any order:
 *
 * ```
 *  sequence   1 … acknowledged   … applied    applied + 1   …
 *  applied    all                all          no            those that have an outcome
 *  outcome    dropped            kept         none          kept, if applied
 * ```
 */
export class ProposerSession {
  readonly id: number
  /** The time of the log when a record of it came last. */
  lastUseMs: number
  /** Its neighbours in the order of last use. */
  older: ProposerSession | undefined
  newer: ProposerSession | undefined
  #applied = 0
  #acknowledged = 0
  readonly #outcomes = new Map<number, StoredOutcome>()

  constructor(id: number, timeMs: number) {
    this.id = id
    this.lastUseMs = timeMs
  }

  /** True if the command was applied. */
  has(sequence: number): boolean {
    return sequence <= this.#applied || this.#outcomes.has(sequence)
  }

  /** What an applied command came to. */
  outcomeOf(sequence: number): Outcome {
    return this.#outcomes.get(sequence) ?? ACKNOWLEDGED
  }

  /** A command was applied. */
  add(sequence: number, outcome: StoredOutcome): void {
    this.#outcomes.set(sequence, outcome)
    if (sequence !== this.#applied + 1) return
    do this.#applied += 1
    while (this.#outcomes.has(this.#applied + 1))
  }

  /** Drop the outcomes up to a sequence. Only what was applied can have been answered. */
  acknowledge(sequence: number): void {
    const upTo = Math.min(sequence, this.#applied)
    while (this.#acknowledged < upTo) {
      this.#acknowledged += 1
      this.#outcomes.delete(this.#acknowledged)
    }
  }

  encode(writer: ByteWriter): void {
    writer.u48(this.id)
    writer.f64(this.lastUseMs)
    writer.u32(this.#applied)
    writer.u32(this.#acknowledged)
    writer.u32(this.#outcomes.size)
    for (const [sequence, { kind, bytes }] of this.#outcomes) {
      writer.u32(sequence)
      writer.u8(kind === 'answer' ? 0 : 1)
      writer.u32(bytes.length)
      writer.append(bytes)
    }
  }

  static decode(reader: ByteReader): ProposerSession {
    const session = new ProposerSession(reader.u48(), reader.f64())
    session.#applied = reader.u32()
    session.#acknowledged = reader.u32()
    for (let count = reader.u32(); count > 0; count -= 1) {
      const sequence = reader.u32()
      const kind = reader.u8() === 0 ? 'answer' : 'error'
      session.#outcomes.set(sequence, { kind, bytes: reader.take(reader.u32()) })
    }
    return session
  }
}

/** Sessions in the order of their last use, as a list, so that those that expire are found at its start. */
export class SessionTable {
  readonly #byId = new Map<number, ProposerSession>()
  #oldest: ProposerSession | undefined
  #newest: ProposerSession | undefined

  get size(): number {
    return this.#byId.size
  }

  /** The session, which is now the one used last; undefined if it is unknown. */
  use(id: number, timeMs: number): ProposerSession | undefined {
    const session = this.#newest?.id === id ? this.#newest : this.#byId.get(id)
    if (session === undefined) return undefined
    session.lastUseMs = timeMs
    if (session !== this.#newest) {
      this.#unlink(session)
      this.#append(session)
    }
    return session
  }

  begin(id: number, timeMs: number): ProposerSession {
    return this.#enter(new ProposerSession(id, timeMs))
  }

  /** Remove a session that was last used at `timeMs` or before, and return its id; undefined if there is none. */
  takeUnused(timeMs: number): number | undefined {
    const session = this.#oldest
    if (session === undefined || session.lastUseMs > timeMs) return undefined
    this.#unlink(session)
    this.#byId.delete(session.id)
    return session.id
  }

  encode(writer: ByteWriter): void {
    writer.u32(this.size)
    for (let session = this.#oldest; session !== undefined; session = session.newer) session.encode(writer)
  }

  static decode(reader: ByteReader): SessionTable {
    const table = new SessionTable()
    for (let count = reader.u32(); count > 0; count -= 1) table.#enter(ProposerSession.decode(reader))
    return table
  }

  #enter(session: ProposerSession): ProposerSession {
    this.#byId.set(session.id, session)
    this.#append(session)
    return session
  }

  #append(session: ProposerSession): void {
    session.older = this.#newest
    session.newer = undefined
    if (this.#newest === undefined) this.#oldest = session
    else this.#newest.newer = session
    this.#newest = session
  }

  #unlink({ older, newer }: ProposerSession): void {
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
  }
}
