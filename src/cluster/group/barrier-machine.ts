import { BarrierInquiry } from './barrier-inquiry.ts'
import { BarrierTree } from './barrier-tree.ts'
import { BarrierWord } from './barrier-words.ts'
import { MeshChannel } from './mesh-channel.ts'

/**
 * The agent's side of barriers. When a rank and all ranks below it have arrived, it tells its parent in the
 * {@link BarrierTree}. The root's message that all have arrived goes down the same way. Each rank sends two messages
 * per barrier; the rounds are twice the depth of the tree.
 *
 * Only the root decides which barriers have ended. After a death it tells every rank directly up to which generation
 * they have, since the rank that died may have been on the path of that message. A rank asks every other which ranks
 * are missing, but only if a barrier takes too long. A stopped rank that does not even answer counts as missing too.
 *
 *   12 bytes: channel, kind, -, -, generation (Int32), argument (Int32)
 *
 *   Arrived   to the parent    generation: we and all below us have entered it
 *   Released  to the children  generation: all ranks have entered it
 *   Where     to all           argument: which question this is
 *   Here      to the asker     generation: the last that we have entered; argument: the question
 *   Failed    root to all      generation: the last that can end; argument: the rank that has died
 */
const Kind = { Arrived: 1, Released: 2, Where: 3, Here: 4, Failed: 5 } as const
const MESSAGE_BYTES = 12
const ROOT = 0

export interface BarrierMachineOptions {
  readonly rank: number
  readonly size: number
  readonly words: Int32Array
  readonly send: (rank: number, bytes: Uint8Array) => void
}

export class BarrierMachine {
  readonly #options: BarrierMachineOptions
  readonly #tree: BarrierTree
  /** The last generation that the main thread has entered, as of the last look. */
  #entered = 0
  /** The last generation that was reported to the parent, or released at the root. */
  #reported = 0
  /** By child: the last generation at which all ranks below it have arrived. */
  readonly #below = new Map<number, number>()
  readonly #inquiry: BarrierInquiry

  constructor(options: BarrierMachineOptions) {
    this.#options = options
    this.#inquiry = new BarrierInquiry(options.words)
    this.#tree = new BarrierTree(options.rank, options.size)
    for (const child of this.#tree.children) this.#below.set(child, 0)
  }

  /** Look at what the main thread wants. Returns true if that was something new. */
  turn(): boolean {
    const { words } = this.#options
    const entered = Atomics.load(words, BarrierWord.Entered)
    const question = this.#inquiry.turn()
    const any = entered !== this.#entered || question !== undefined
    if (entered !== this.#entered) {
      this.#entered = entered
      this.#reportIfComplete()
    }
    if (question !== undefined) this.#ask(question)
    return any
  }

  /** Returns false if the bytes are not a message of a barrier that `from` may send. */
  receive(from: number, bytes: Uint8Array): boolean {
    if (bytes.length !== MESSAGE_BYTES) return false
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const [generation, argument] = [view.getInt32(4, true), view.getInt32(8, true)]
    switch (bytes[1]) {
      case Kind.Arrived:
        return this.#childArrived(from, generation)
      case Kind.Released:
        if (from !== this.#tree.parent) return false
        this.#release(generation)
        return true
      case Kind.Where:
        this.#send(from, Kind.Here, Atomics.load(this.#options.words, BarrierWord.Entered), argument)
        return true
      case Kind.Here:
        this.#inquiry.take(from, generation >= this.#entered, argument)
        return true
      case Kind.Failed:
        return this.#rootSaysFailed(from, argument, generation)
      default:
        return false
    }
  }

  /** The last generation that this rank was released from. */
  get passed(): number {
    return Atomics.load(this.#options.words, BarrierWord.Released)
  }

  /**
   * Rank `rank` has left: barriers after generation `passed` cannot end any more. Generation `passed` has ended, but
   * its release comes down the tree and may arrive after the news that `rank` left.
   */
  memberLeft(rank: number, passed: number): void {
    this.#fail(rank, passed)
  }

  /** Rank `rank` has died. The root announces which barriers cannot end any more. */
  memberDied(rank: number): void {
    const { rank: own, size } = this.#options
    if (own !== ROOT && rank !== ROOT) return
    const { passed } = this
    if (own === ROOT) for (let other = 1; other < size; other += 1) this.#send(other, Kind.Failed, passed, rank)
    this.#fail(rank, passed)
  }

  #childArrived(child: number, generation: number): boolean {
    if (!this.#below.has(child)) return false
    this.#below.set(child, generation)
    this.#reportIfComplete()
    return true
  }

  #reportIfComplete(): void {
    const next = this.#reported + 1
    if (this.#entered < next) return
    for (const generation of this.#below.values()) if (generation < next) return
    const { parent } = this.#tree
    if (parent !== undefined) {
      this.#reported = next
      this.#send(parent, Kind.Arrived, next)
    } else if (Atomics.load(this.#options.words, BarrierWord.Failed) === 0) {
      this.#reported = next
      this.#release(next)
    }
  }

  #release(generation: number): void {
    // The root may have announced it already, when it reported a death.
    if (generation <= this.passed) return
    for (const child of this.#tree.children) this.#send(child, Kind.Released, generation)
    this.#publish(BarrierWord.Released, generation)
  }

  #rootSaysFailed(from: number, rank: number, passed: number): boolean {
    if (from !== ROOT || rank < 0 || rank >= this.#options.size) return false
    this.#release(passed)
    this.#fail(rank, passed)
    return true
  }

  #fail(rank: number, passed: number): void {
    const { words } = this.#options
    const failed = Atomics.load(words, BarrierWord.Failed)
    if (failed !== 0 && Atomics.load(words, BarrierWord.Possible) <= passed) return
    Atomics.store(words, BarrierWord.Possible, passed)
    Atomics.store(words, BarrierWord.Failed, rank + 1)
    Atomics.notify(words, BarrierWord.Released)
  }

  #ask(question: number): void {
    const { rank, size } = this.#options
    const others = Array.from({ length: size }, (_, other) => other).filter((other) => other !== rank)
    this.#inquiry.begin(question, rank, others)
    for (const other of others) this.#send(other, Kind.Where, 0, question)
  }

  #publish(word: number, value: number): void {
    Atomics.store(this.#options.words, word, value)
    Atomics.notify(this.#options.words, word)
  }

  #send(to: number, kind: number, generation: number, argument = 0): void {
    const bytes = new Uint8Array(MESSAGE_BYTES)
    bytes[0] = MeshChannel.Barrier
    bytes[1] = kind
    const view = new DataView(bytes.buffer)
    view.setInt32(4, generation, true)
    view.setInt32(8, argument, true)
    this.#options.send(to, bytes)
  }
}
