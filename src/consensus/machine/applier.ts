import { type Codec, structured } from '../../codecs/index.ts'
import { DefectError } from '../../native/index.ts'
import { AppliedState } from './applied-state.ts'
import { canonicalBytes } from './canonical.ts'
import { type Change, Changes } from './changes.ts'
import { checkFormat, FIRST_FORMAT, type MachineFormats } from './formats.ts'
import type { ApplyContext, ReplicatedMachine } from './machine.ts'
import { answered, EXPIRED, type Outcome, type StoredOutcome, thrown } from './outcome.ts'
import { RecordKind, RecordReader } from './records.ts'

/** How many hashes are kept for comparison. */
const HASHES_KEPT = 64
const HASH_EVERY = 1024
const CHANGES_KEPT = 4096

/** A decided entry. */
export interface Entry {
  /** 1, 2, 3 … without gaps. */
  readonly index: number
  /** Of the leader that proposed it. */
  readonly term: number
  /** The wall clock of that leader. */
  readonly timeMs: number
  /** Records. The memory may be used again after the call. */
  readonly payload: Uint8Array
}

export interface ApplierOptions<Command, Answer> {
  readonly machine: ReplicatedMachine<Command, Answer>
  readonly codec: Codec<Command>
  /** Default: `structured`. */
  readonly answerCodec?: Codec<Answer>
  /** How long after its last record a session is forgotten, by the time of the log. The same at every replica. */
  readonly sessionMs: number
  /** Is told what each Command record came to, at once. It must not throw. */
  readonly onAnswer: (session: number, sequence: number, outcome: Outcome) => void
  /** Gets the bytes of Configuration records. It must not throw. */
  readonly onConfiguration?: (bytes: Uint8Array) => void
  /** Default: the machine has one format. */
  readonly formats?: MachineFormats | undefined
  /** The hash is kept at multiples of this index. Default: 1024. */
  readonly hashEvery?: number
  /** How many changes are kept. Default: 4096. */
  readonly changesKept?: number
}

/** The hash after the entry `index`. */
export interface HashMark {
  readonly index: number
  readonly value: string
}

/** What a command came to, and what replicas compare of it if that is not what is kept. */
interface AppliedCommand {
  readonly outcome: StoredOutcome
  readonly compared?: Uint8Array
}

/**
 * Applies decided entries to a machine, each command once. What it does follows from the entries alone, so replicas
 * that have applied the same entries are the same.
 *
 * - A command is named by session and sequence. One that was applied before is not applied again; its outcome is kept
 *   until the session acknowledges it.
 * - The time of the log is the latest time of any entry. A session expires `sessionMs` after its last record.
 * - A command of an unknown session is not applied, unless its sequence is 1: that begins the session. So a proposer
 *   sends sequence 1 alone until it has the answer, and sends it no more once `sessionMs` may have passed since.
 * - What the machine or a codec throws is the outcome of the command. It is the same at every replica, as the machine
 *   is deterministic. A machine that is not shows in {@link Applier.hash}.
 * - A Command record that lacks fragments has no outcome: the new leader sends the command again.
 */
export class Applier<Command, Answer> {
  readonly machine: ReplicatedMachine<Command, Answer>
  readonly #codec: Codec<Command>
  readonly answerCodec: Codec<Answer>
  readonly #sessionMs: number
  readonly #onAnswer: ApplierOptions<Command, Answer>['onAnswer']
  readonly #onConfiguration: ApplierOptions<Command, Answer>['onConfiguration']
  readonly #formats: MachineFormats | undefined
  readonly #hashEvery: number
  readonly #hashes = new Map<number, string>()
  readonly #changes: Changes<Command, Answer>
  #state = new AppliedState()
  #term = 0
  /** Set while the state changes. If it stays, a callback has thrown in between, and the state is half an entry's. */
  #isChanging = false

  constructor(options: ApplierOptions<Command, Answer>) {
    const { machine, codec, sessionMs, onAnswer, onConfiguration } = options
    const { answerCodec = structured as Codec<Answer>, hashEvery = HASH_EVERY, changesKept = CHANGES_KEPT } = options
    this.machine = machine
    this.#codec = codec
    this.answerCodec = answerCodec
    this.#sessionMs = sessionMs
    this.#onAnswer = onAnswer
    this.#onConfiguration = onConfiguration
    this.#formats = options.formats
    this.#hashEvery = hashEvery
    this.#changes = new Changes(codec, answerCodec, changesKept)
  }

  /** The highest format of commands that is known here, and the one that is in force. */
  get formatKnown(): number {
    return this.#formats?.known ?? FIRST_FORMAT
  }

  get format(): number {
    return this.#state.format
  }

  /** Of the last entry that was applied; 0 before the first. */
  get index(): number {
    return this.#state.index
  }

  /** How many commands were applied since the founding. */
  get commands(): number {
    return this.#state.commands
  }

  /** The hash now. */
  get hash(): HashMark {
    return { index: this.#state.index, value: this.#state.hash.value }
  }

  /** The hash now, in 32 bits. */
  get shortHash(): number {
    return this.#state.hash.short
  }

  /** The last 64 hashes at multiples of `hashEvery`, by index, to compare with another replica's. */
  get hashes(): ReadonlyMap<number, string> {
    return this.#hashes
  }

  /** The commands applied from this number on. @throws ConsensusError if some are no longer kept; `first` is. */
  changesFrom(number: number): Change<Command, Answer>[] {
    return this.#changes.from(number)
  }

  /**
   * Apply the next entry.
   * @throws ConsensusError if its payload is malformed: nothing was applied. If it has a format that is not known here:
   *   nothing more can be applied.
   */
  apply({ index, term, timeMs, payload }: Entry): void {
    const record = new RecordReader(payload)
    const state = this.#begin(index, term, timeMs)
    while (record.next()) this.#record(state, record)
    this.#end(state, index)
  }

  /**
   * Apply a command that is the next entry by itself, and belongs to no session: it cannot come twice. Its memory may
   * be used again after the call.
   */
  applyAlone({ index, term, timeMs, payload }: Entry): StoredOutcome {
    const state = this.#begin(index, term, timeMs)
    const { outcome, compared = outcome.bytes } = this.#run(payload)
    state.hash.mix(state.commands, compared)
    this.#end(state, index)
    return outcome
  }

  /** An entry is being applied: no other can be. */
  get isApplying(): boolean {
    return this.#isChanging
  }

  /** @internal All but the machine. @throws DefectError in the middle of an entry. */
  wholeState(): AppliedState {
    if (!this.#isChanging) return this.#state
    throw new DefectError(`entry ${this.#state.index + 1} is being applied, or a callback threw in the middle of it`)
  }

  /** @internal Replace all by a snapshot's. */
  restore(state: AppliedState, chunks: readonly Uint8Array[]): void {
    const { index } = this.wholeState()
    if (state.index < index) throw new DefectError(`a snapshot at entry ${state.index} follows entry ${index}`)
    this.#isChanging = true
    this.machine.restore(chunks)
    this.#state = state
    this.#formats?.inForce(state.format)
    this.#changes.restart(state.commands + 1)
    this.#hashes.clear()
    this.#isChanging = false
  }

  #begin(index: number, term: number, timeMs: number): AppliedState {
    const state = this.wholeState()
    if (index !== state.index + 1) throw new DefectError(`entry ${index} follows entry ${state.index}`)
    this.#isChanging = true
    this.#term = term
    if (timeMs > state.timeMs) state.timeMs = timeMs
    this.#expireSessions(state)
    return state
  }

  #end(state: AppliedState, index: number): void {
    state.index = index
    this.#isChanging = false
    if (index % this.#hashEvery === 0) this.#keepHash()
  }

  #expireSessions({ sessions, fragments, timeMs }: AppliedState): void {
    for (;;) {
      const id = sessions.takeUnused(timeMs - this.#sessionMs)
      if (id === undefined) return
      fragments.dropSession(id)
    }
  }

  #record(state: AppliedState, record: RecordReader): void {
    switch (record.kind) {
      case RecordKind.Begin:
        state.fragments.dropAll()
        break
      case RecordKind.Command: {
        const outcome = this.#outcomeOf(state, record)
        if (outcome !== undefined) this.#onAnswer(record.session, record.sequence, outcome)
        break
      }
      case RecordKind.Fragment:
        this.#fragment(state, record)
        break
      case RecordKind.Configuration:
        this.#onConfiguration?.(record.bytes)
        break
      case RecordKind.Format:
        this.#raise(state, record.format)
        break
    }
  }

  /** Several leaders may have proposed it. */
  #raise(state: AppliedState, format: number): void {
    if (format <= state.format) return
    checkFormat(format, this.formatKnown)
    state.format = format
    this.#formats?.inForce(format)
  }

  /** What a Command came to; undefined if fragments of it are missing. */
  #outcomeOf({ sessions, fragments, timeMs, hash }: AppliedState, record: RecordReader): Outcome | undefined {
    const { session: id, sequence } = record
    const session = sessions.use(id, timeMs) ?? (sequence === 1 ? sessions.begin(id, timeMs) : undefined)
    const bytes = fragments.complete(record)
    if (session === undefined) return EXPIRED
    session.acknowledge(record.acknowledged)
    if (session.has(sequence)) return session.outcomeOf(sequence)
    if (bytes === undefined) return undefined
    const { outcome, compared = outcome.bytes } = this.#run(bytes)
    hash.mix(this.#state.commands, compared)
    session.add(sequence, outcome)
    return outcome
  }

  /** A fragment of a command that will not be applied is not kept. */
  #fragment({ sessions, fragments, timeMs }: AppliedState, record: RecordReader): void {
    const { session: id, sequence } = record
    const session = sessions.use(id, timeMs)
    if (session === undefined ? sequence === 1 : !session.has(sequence)) fragments.add(record)
  }

  #run(bytes: Uint8Array): AppliedCommand {
    let command: Command
    try {
      command = this.#codec.decode(bytes)
    } catch (error) {
      return { outcome: thrown(error) }
    }
    const state = this.#state
    state.commands += 1
    const context: ApplyContext = { index: state.commands, timeMs: state.timeMs, term: this.#term }
    const applied = this.#applied(command, context)
    this.#changes.add(context, bytes, applied.outcome)
    return applied
  }

  #applied(command: Command, context: ApplyContext): AppliedCommand {
    try {
      const answer = this.machine.apply(command, context)
      if (answer instanceof Promise) throw promised(answer)
      const outcome = answered(answer, this.answerCodec)
      const isAsTheEngineHasIt = (this.answerCodec as Codec<unknown>) === structured && isCloned(answer)
      return isAsTheEngineHasIt ? { outcome, compared: canonicalBytes(answer) } : { outcome }
    } catch (error) {
      return { outcome: thrown(error) }
    }
  }

  #keepHash(): void {
    const { index, value } = this.hash
    this.#hashes.set(index, value)
    this.#hashes.delete(index - HASHES_KEPT * this.#hashEvery)
  }
}

/** `structured` writes it in V8's format. */
function isCloned(answer: unknown): boolean {
  return typeof answer === 'object' && answer !== null && !(answer instanceof Uint8Array)
}

/** What it does later does not belong to the log. */
function promised(answer: Promise<unknown>): TypeError {
  answer.catch(() => {})
  return new TypeError('apply returned a promise; let it return the answer itself')
}
