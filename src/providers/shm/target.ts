import { QueuePairState } from '../queue-pair-state.ts'
import type { Block } from './block.ts'
import { BlockWord, stateOf } from './layout.ts'
import type { Peer } from './peer.ts'

/** No state word: that of a fresh block is 0. */
const UNSEEN = -1

/** The peer's queue pair that a connected queue pair sends to: its block, entered for the time of one operation. */
export class Target {
  readonly peer: Peer
  readonly number: number
  readonly #ownNumber: number
  readonly #ownGid: readonly number[]
  block: Block | undefined = undefined
  /** Receive requests that this end has used up. */
  consumed = 0
  #inside = 0
  /** The state word that was found to be a receiver connected to us. */
  #seenState = UNSEEN
  #sendPsn = 0

  constructor(peer: Peer, number: number, ownNumber: number, ownGid: readonly number[]) {
    this.peer = peer
    this.number = number
    this.#ownNumber = ownNumber
    this.#ownGid = ownGid
  }

  set sendPsn(psn: number) {
    this.#sendPsn = psn
  }

  /**
   * Begin an operation: after this the owner of the block waits for `leave()` before it takes memory or requests away.
   * False where it is not a receiver connected to us; then nothing was entered.
   */
  enter(): boolean {
    const block = this.block
    if (block === undefined) return this.#open() && this.enter()
    // The plain load only sorts out what is surely wrong; the one after entering decides.
    if (block.words[BlockWord.State] !== this.#seenState && !this.#recognise(block)) return false
    this.#inside = (this.#inside + 1) | 0
    Atomics.store(block.words, BlockWord.Inside, this.#inside)
    if (Atomics.load(block.words, BlockWord.State) === this.#seenState) return true
    this.leave()
    return false
  }

  leave(): void {
    this.#inside = (this.#inside + 1) | 0
    Atomics.store((this.block as Block).words, BlockWord.Inside, this.#inside)
  }

  /** The queue pair will never answer again: its process ended, or it was destroyed. One that was never seen may yet be made. */
  get vanished(): boolean {
    return this.peer.gone || (this.block !== undefined && !this.peer.has(this.number))
  }

  /** Tell the owner that its queue pair is to go to the error state. */
  fault(): void {
    const { words } = this.block as Block
    Atomics.store(words, BlockWord.Fault, 1)
    this.peer.announce(words[BlockWord.ReceiveQueue] as number, true)
  }

  /** Ask to be woken, or no longer, when the owner posts a receive request. */
  set waiting(on: boolean) {
    if (this.block !== undefined && this.#connected(this.block))
      Atomics.store(this.block.words, BlockWord.Waiting, on ? 1 : 0)
  }

  close(): void {
    if (this.block !== undefined) this.peer.closeBlock(this.block)
    this.block = undefined
    this.#seenState = UNSEEN
  }

  #open(): boolean {
    if (this.peer.gone) return false
    this.block = this.peer.openBlock(this.number)
    return this.block !== undefined
  }

  /** The state word is new to us: is this a receiver, and are we the one it receives from? */
  #recognise(block: Block): boolean {
    const word = Atomics.load(block.words, BlockWord.State)
    const state = stateOf(word)
    const receives = state >= QueuePairState.ReadyToReceive && state <= QueuePairState.SendQueueDrained
    if (!receives || !this.#connected(block)) return false
    if (block.words[BlockWord.ReceivePsn] !== this.#sendPsn || Atomics.load(block.words, BlockWord.Fault) !== 0)
      return false
    // Nobody but us counts these two up while this connection lasts.
    this.consumed = Atomics.load(block.words, BlockWord.Consumed)
    this.#inside = Atomics.load(block.words, BlockWord.Inside)
    if ((this.#inside & 1) !== 0) return false
    this.#seenState = word
    return true
  }

  #connected(block: Block): boolean {
    const { words } = block
    if (words[BlockWord.Number] !== this.number || words[BlockWord.DestinationNumber] !== this.#ownNumber) return false
    return this.#ownGid.every((word, index) => words[BlockWord.DestinationGid + index] === word)
  }
}
