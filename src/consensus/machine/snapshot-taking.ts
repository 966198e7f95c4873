import { mustBe } from '../../native/index.ts'
import type { Applier } from './applier.ts'
import type { AnyMachine, StateParts } from './machine.ts'
import { chunkHead, encodeHeader } from './snapshot.ts'

/** A part ends when it is so long. */
const PART_BYTES = 2 ** 20
/** Before each chunk: its length, as {@link packChunks} has it. */
const LENGTH_BYTES = 4

/** A snapshot that is taken while entries are applied. Its parts, one behind the other, are packed chunks. */
export class SnapshotTaking<Command, Answer> {
  /** All entries up to this one are in it. */
  readonly index: number
  readonly #state: StateParts
  /** Of the applier: what the header has besides the number of chunks. */
  readonly #applied: (chunks: number) => Uint8Array
  #chunks: Uint8Array[] = []
  #bytes = 0
  #count = 0
  #isOver = false

  /** `stateParts`: of the machine, in place of its `snapshot()`. @throws What the machine throws. */
  constructor(applier: Applier<Command, Answer>, stateParts: (() => StateParts) | undefined) {
    const state = applier.wholeState()
    this.index = state.index
    this.#applied = encodeHeader(state)
    this.#state = stateParts?.() ?? partsOf(applier.machine)
  }

  /** What it has given is of no use. */
  get isGivenUp(): boolean {
    return this.#state.isGivenUp
  }

  /** The next part, which is the caller's. `later` if it is not ready yet, undefined after the last. */
  next(): Uint8Array<ArrayBuffer> | 'later' | undefined {
    if (!this.#isOver) {
      const chunks = this.#state.next()
      this.#isOver = chunks === undefined
      for (const chunk of chunks ?? []) {
        if (!(chunk instanceof Uint8Array)) throw mustBe('a chunk of snapshot()', 'a Uint8Array', chunk)
        this.#add(chunk)
      }
    }
    if (this.#bytes >= PART_BYTES || (this.#isOver && this.#bytes > 0)) return this.#take()
    return this.#isOver ? undefined : 'later'
  }

  /** The part before all others. It is known after the last. */
  get first(): Uint8Array {
    const header = this.#applied(this.#count)
    return packed([chunkHead(0, header), header])
  }

  /** No more is wanted. */
  end(): void {
    this.#state.end()
  }

  #add(payload: Uint8Array): void {
    this.#count += 1
    const head = chunkHead(this.#count, payload)
    this.#chunks.push(head, payload)
    this.#bytes += head.length + payload.length
  }

  #take(): Uint8Array<ArrayBuffer> {
    const part = packed(this.#chunks)
    this.#chunks = []
    this.#bytes = 0
    return part
  }
}

/** What the machine gives at once, a part at a time. */
function partsOf(machine: AnyMachine): StateParts {
  const chunks = [...machine.snapshot()]
  let at = 0
  const next = (): Uint8Array[] | undefined => {
    const from = at
    for (let bytes = 0; at < chunks.length && bytes < PART_BYTES; at += 1) bytes += chunks[at]!.length
    return at === from ? undefined : chunks.slice(from, at)
  }
  return { next, isGivenUp: false, end: () => undefined }
}

/** Heads and payloads in turn, each pair behind its length. */
function packed(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const total = parts.reduce((sum, { length }) => sum + length, 0)
  const bytes = new Uint8Array(total + (parts.length / 2) * LENGTH_BYTES)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (let index = 0; index < parts.length; index += 2) {
    const [head, payload] = [parts[index]!, parts[index + 1]!]
    view.setUint32(at, head.length + payload.length, true)
    bytes.set(head, at + LENGTH_BYTES)
    bytes.set(payload, at + LENGTH_BYTES + head.length)
    at += LENGTH_BYTES + head.length + payload.length
  }
  return bytes
}
