import { Buffer } from 'node:buffer'
import type { Codec } from '../../codecs/index.ts'
import { ConsensusError } from '../errors.ts'
import type { ApplyContext } from './machine.ts'
import { errorOf, plain, type StoredOutcome } from './outcome.ts'

/** A command that was applied, and its answer, or what the machine threw. */
export interface Change<Command, Answer> extends ApplyContext {
  readonly command: Command
  readonly answer?: Answer
  readonly error?: Error
}

interface KeptChange {
  readonly context: ApplyContext
  readonly bytes: Uint8Array
  readonly outcome: StoredOutcome
}

/**
 * The last commands that were applied, in a ring. Commands and answers are kept as bytes: a machine may go on to change
 * the objects.
 */
export class Changes<Command, Answer> {
  readonly #codec: Codec<Command>
  readonly #answerCodec: Codec<Answer>
  readonly #capacity: number
  readonly #ring: KeptChange[] = []
  #first = 1
  #next = 1

  constructor(codec: Codec<Command>, answerCodec: Codec<Answer>, capacity: number) {
    this.#codec = codec
    this.#answerCodec = answerCodec
    this.#capacity = capacity
  }

  add(context: ApplyContext, command: Uint8Array, outcome: StoredOutcome): void {
    this.#next = context.index + 1
    if (this.#next - this.#first > this.#capacity) this.#first = this.#next - this.#capacity
    if (this.#capacity === 0) return
    // Its own: the payload of an entry is used again.
    const bytes = Buffer.from(command)
    this.#ring[context.index % this.#capacity] = { context, bytes, outcome }
  }

  /** Forget all: the next one will be `number`. */
  restart(number: number): void {
    this.#ring.length = 0
    this.#first = number
    this.#next = number
  }

  /** Those from a number on, as values of the caller's own. @throws ConsensusError if some are no longer kept. */
  from(number: number): Change<Command, Answer>[] {
    if (number < this.#first) {
      const message = `change ${number} is no longer kept; begin with ${this.#first}, or read the state as a whole`
      throw new ConsensusError('CHANGES_GONE', message, { first: this.#first })
    }
    const changes: Change<Command, Answer>[] = []
    for (let index = number; index < this.#next; index += 1)
      changes.push(this.#decoded(this.#ring[index % this.#capacity]!))
    return changes
  }

  #decoded({ context, bytes, outcome }: KeptChange): Change<Command, Answer> {
    const command = this.#codec.decode(plain(bytes))
    if (outcome.kind === 'error') return { ...context, command, error: errorOf(outcome.bytes) }
    return { ...context, command, answer: this.#answerCodec.decode(plain(outcome.bytes)) }
  }
}
