import type { EncodedRequest } from '../encoded-request.ts'
import { QueuePairState } from '../queue-pair-state.ts'
import { type Inbox, OwnInbox, type SharedInbox } from './inbox.ts'
import { BlockKind, BlockWord, receivesIn, stateOf } from './layout.ts'
import type { PairBlock } from './pair-block.ts'
import type { PeerDevice } from './peer-device.ts'
import type { Reachable, Responder } from './responder.ts'

/** Not a state word: that of a fresh block is 0. */
const UNSEEN = -1

/** The peer's queue pair that a connected queue pair sends to: its block, entered for the duration of one operation. */
export class Target implements Reachable, Responder {
  readonly peer: PeerDevice
  readonly number: number
  readonly #ownNumber: number
  readonly #ownGid: readonly number[]
  /**
   * Compare packet sequence numbers. Unreliable connections do not: they accept whatever comes first (IB specification
   * 9.8.2.1).
   */
  readonly #comparesPsn: boolean
  block: PairBlock | undefined = undefined
  #own: OwnInbox | undefined
  #visiting = false
  #inside = 0
  /** The state word that was found to belong to a receiver connected to us. */
  #seenState = UNSEEN
  #sendPsn = 0

  constructor(peer: PeerDevice, number: number, ownNumber: number, ownGid: readonly number[], comparesPsn: boolean) {
    this.peer = peer
    this.number = number
    this.#ownNumber = ownNumber
    this.#ownGid = ownGid
    this.#comparesPsn = comparesPsn
  }

  set sendPsn(psn: number) {
    this.#sendPsn = psn
  }

  get domainId(): number {
    return this.block!.words[BlockWord.Domain]!
  }

  /**
   * Where messages are put, between `enter` and `leave`: the queue pair's own ring, or that of its shared receive
   * queue.
   */
  get inbox(): Inbox | undefined {
    const shared = this.block!.words[BlockWord.SharedQueue]!
    return shared === 0 ? this.#own! : this.#sharedInbox(shared)
  }

  /**
   * The queue pair's own ring, between `enter` and `leave`; undefined if it takes its receives from a shared receive
   * queue.
   */
  get ownInbox(): OwnInbox | undefined {
    return this.block!.words[BlockWord.SharedQueue] === 0 ? this.#own : undefined
  }

  get queueIndex(): number {
    return this.block!.words[BlockWord.ReceiveQueue]!
  }

  responder(_request: EncodedRequest): Responder | number {
    return this
  }

  /**
   * Begin an operation: after this the owner of the block waits for `leave()` before it takes memory or requests away.
   * Returns false if it is not a receiver connected to us; nothing was entered then.
   */
  enter(): boolean {
    const block = this.block
    if (block === undefined) return this.#open() && this.enter()
    // The plain load only sorts out what is certainly wrong; the load after entering decides.
    if (block.words[BlockWord.State] !== this.#seenState && !this.#recognise(block)) return false
    this.#inside = (this.#inside + 1) | 0
    Atomics.store(block.words, BlockWord.Inside, this.#inside)
    if (Atomics.load(block.words, BlockWord.State) === this.#seenState) return true
    this.leave()
    return false
  }

  leave(): void {
    if (this.#visiting) this.#endVisit()
    this.#inside = (this.#inside + 1) | 0
    Atomics.store(this.block!.words, BlockWord.Inside, this.#inside)
  }

  /**
   * True if the queue pair will never answer again: its process ended, or it was destroyed. One that was never seen may
   * still be created.
   */
  get vanished(): boolean {
    return this.peer.gone || (this.block !== undefined && !this.peer.has(this.number))
  }

  /** Tell the owner that its queue pair must go to the error state. */
  fault(): void {
    const { words } = this.block!
    Atomics.store(words, BlockWord.Fault, 1)
    this.#tell(words[BlockWord.ReceiveQueue]!)
  }

  /** Ask to be woken, or no longer, when the owner posts a receive request. */
  set waiting(on: boolean) {
    if (this.block !== undefined && this.#connected(this.block))
      Atomics.store(this.block.words, BlockWord.Waiting, on ? 1 : 0)
  }

  get rnrTimer(): number {
    return this.block?.words[BlockWord.MinRnrTimer] ?? 0
  }

  close(): void {
    if (this.block !== undefined) this.peer.closeBlock(this.block)
    this.block = undefined
    this.#own = undefined
    this.#seenState = UNSEEN
  }

  #open(): boolean {
    if (this.peer.gone) return false
    this.block = this.peer.openBlock(this.number)
    return this.block !== undefined
  }

  /** There is something to look at that no completion announces. */
  #tell(queue: number): void {
    if (queue >= 0) this.peer.announce(queue, true)
    else this.peer.ring()
  }

  /** The state word is new: check that this is a receiver, and that it receives from us. */
  #recognise(block: PairBlock): boolean {
    const word = Atomics.load(block.words, BlockWord.State)
    if (!receivesIn(word) || !this.#connected(block)) return false
    if (this.#comparesPsn && block.words[BlockWord.ReceivePsn] !== this.#sendPsn) return false
    if (Atomics.load(block.words, BlockWord.Fault) !== 0) return false
    // Only this end increments these two while this connection lasts.
    this.#own = new OwnInbox(this.peer, block)
    this.#inside = Atomics.load(block.words, BlockWord.Inside)
    if ((this.#inside & 1) !== 0) return false
    this.#seenState = word
    if (stateOf(word) === QueuePairState.ReadyToReceive) this.#establish(block)
    return true
  }

  /**
   * The first message finds the queue pair ready, which its owner may want to know (IB specification 11.6.3.1,
   * communication established).
   */
  #establish(block: PairBlock): void {
    if (Atomics.exchange(block.words, BlockWord.Found, 1) === 0) this.#tell(block.words[BlockWord.ReceiveQueue]!)
  }

  #connected(block: PairBlock): boolean {
    const { words } = block
    if (words[BlockWord.Number] !== this.number || words[BlockWord.DestinationNumber] !== this.#ownNumber) return false
    return this.#ownGid.every((word, index) => words[BlockWord.DestinationGid + index] === word)
  }

  #sharedInbox(number: number): SharedInbox | undefined {
    const visit = this.peer.visit()
    if (visit === undefined) return undefined
    visit.enter()
    this.#visiting = true
    const shared = this.peer.sharedTarget(number, BlockKind.SharedQueue)
    return shared.open() === undefined ? undefined : shared.inbox(visit.index)
  }

  #endVisit(): void {
    this.#visiting = false
    this.peer.visit()?.leave()
  }
}
