import { BarrierWord } from './barrier-words.ts'
import { MeshChannel } from './mesh-channel.ts'

/**
 * The agent's side of barriers. Rank 0 counts: the others tell it that they arrived, and it tells them when all have.
 * Two messages a rank and barrier; that one place knows everybody is what lets an error name who is missing.
 *
 *   bytes 0..15: channel, kind, -, -, generation (Int32; Failed: the rank), missing...
 */
const Kind = { Arrived: 1, Released: 2, WhoIsMissing: 3, Missing: 4, Failed: 5 } as const
const HEAD_BYTES = 8
const COORDINATOR = 0

export interface BarrierMachineOptions {
  readonly rank: number
  readonly size: number
  readonly words: Int32Array
  readonly send: (rank: number, bytes: Uint8Array) => void
}

export class BarrierMachine {
  readonly #options: BarrierMachineOptions
  #announced = 0
  #asked = 0
  /** At the coordinator: the last generation each rank has arrived at. */
  readonly #arrived: Int32Array
  #released = 0

  constructor(options: BarrierMachineOptions) {
    this.#options = options
    this.#arrived = new Int32Array(options.size)
  }

  /** Look at what the main thread wants. True where that was something new. */
  turn(): boolean {
    const { words, rank } = this.#options
    const entered = Atomics.load(words, BarrierWord.Entered)
    const question = Atomics.load(words, BarrierWord.Question)
    const any = entered !== this.#announced || question !== this.#asked
    if (entered !== this.#announced) {
      this.#announced = entered
      if (rank === COORDINATOR) this.#countArrival(rank, entered)
      else this.#send(COORDINATOR, Kind.Arrived, entered)
    }
    if (question !== this.#asked) {
      this.#asked = question
      if (rank === COORDINATOR) this.#takeMissing(this.#missingBits())
      else this.#send(COORDINATOR, Kind.WhoIsMissing, question)
    }
    return any
  }

  /** False where the bytes are no message of a barrier. */
  receive(from: number, bytes: Uint8Array): boolean {
    if (bytes.length < HEAD_BYTES || bytes.length > HEAD_BYTES + 4 * Math.ceil(this.#options.size / 32)) return false
    const head = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const generation = head.getInt32(4, true)
    switch (bytes[1]) {
      case Kind.Arrived:
        this.#countArrival(from, generation)
        break
      case Kind.Released:
        this.#publish(BarrierWord.Released, generation)
        break
      case Kind.WhoIsMissing:
        this.#send(from, Kind.Missing, generation, this.#missingBits())
        break
      case Kind.Missing:
        this.#takeMissing(bytes.slice(HEAD_BYTES))
        break
      case Kind.Failed:
        if (generation < 0 || generation >= this.#options.size) return false
        this.#fail(generation, this.passed)
        break
      default:
        return false
    }
    return true
  }

  /** The last generation that this rank was released from. */
  get passed(): number {
    return Atomics.load(this.#options.words, BarrierWord.Released)
  }

  /**
   * Rank `rank` has left: barriers after generation `passed` cannot end any more. That one has ended, though the news of it, which the
   * coordinator sends, may come after the news of a rank that was quick to leave.
   */
  memberLeft(rank: number, passed: number): void {
    this.#fail(rank, passed)
  }

  /** Rank `rank` has died. The coordinator says which barriers cannot end any more, behind what it said of those that did. */
  memberDied(rank: number): void {
    const { rank: own, size } = this.#options
    if (own !== COORDINATOR && rank !== COORDINATOR) return
    if (own === COORDINATOR) for (let other = 1; other < size; other++) this.#send(other, Kind.Failed, rank)
    this.#fail(rank, this.passed)
  }

  #fail(rank: number, passed: number): void {
    const { words } = this.#options
    const failed = Atomics.load(words, BarrierWord.Failed)
    if (failed !== 0 && Atomics.load(words, BarrierWord.Possible) <= passed) return
    Atomics.store(words, BarrierWord.Possible, passed)
    Atomics.store(words, BarrierWord.Failed, rank + 1)
    Atomics.notify(words, BarrierWord.Released)
  }

  #countArrival(rank: number, generation: number): void {
    this.#arrived[rank] = generation
    const next = this.#released + 1
    if (!this.#arrived.every((arrived) => arrived >= next)) return
    this.#released = next
    for (let other = 1; other < this.#options.size; other++) this.#send(other, Kind.Released, next)
    this.#publish(BarrierWord.Released, next)
  }

  /** A bit for each rank that has not arrived at the generation after the last released one. */
  #missingBits(): Uint8Array {
    const words = new Uint32Array(Math.ceil(this.#options.size / 32))
    this.#arrived.forEach((arrived, rank) => {
      if (arrived <= this.#released) words[rank >>> 5]! |= 1 << (rank & 31)
    })
    return new Uint8Array(words.buffer)
  }

  #takeMissing(bits: Uint8Array): void {
    const { words } = this.#options
    new Uint8Array(words.buffer, words.byteOffset + 4 * BarrierWord.Missing, bits.length).set(bits)
    this.#publish(BarrierWord.Answer, this.#asked)
  }

  #publish(word: number, value: number): void {
    Atomics.store(this.#options.words, word, value)
    Atomics.notify(this.#options.words, word)
  }

  #send(to: number, kind: number, generation: number, rest: Uint8Array = new Uint8Array(0)): void {
    const bytes = new Uint8Array(HEAD_BYTES + rest.length)
    bytes[0] = MeshChannel.Barrier
    bytes[1] = kind
    new DataView(bytes.buffer).setInt32(4, generation, true)
    bytes.set(rest, HEAD_BYTES)
    this.#options.send(to, bytes)
  }
}
