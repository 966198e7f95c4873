import { type InboxOwner, SharedInbox } from './inbox.ts'
import { BlockWord, receivesIn } from './layout.ts'
import type { PairBlock } from './pair-block.ts'

/** The device that has the blocks. */
interface BlockOwner extends InboxOwner {
  /** True if it ended or closed its device. */
  readonly gone: boolean
  openBlock(number: number): PairBlock | undefined
  closeBlock(block: PairBlock): void
}

const UNSEEN = -1

/**
 * A block of the peer's that many send to: a datagram queue pair, a shared receive queue, a dynamic target. It is used
 * only between `enter` and `leave` of this device's visit to the peer. So the owner waits for us before it takes the
 * block away.
 */
export class SharedTarget {
  readonly peer: BlockOwner
  readonly number: number
  readonly kind: number
  #block: PairBlock | undefined = undefined
  #inbox: SharedInbox | undefined
  #seenState = UNSEEN

  constructor(peer: BlockOwner, number: number, kind: number) {
    this.peer = peer
    this.number = number
    this.kind = kind
  }

  /** Its block if it receives now; undefined if it does not, is gone, or is of another kind. */
  open(): PairBlock | undefined {
    const block = this.#block
    if (block !== undefined && Atomics.load(block.words, BlockWord.State) === this.#seenState) return block
    this.close()
    return this.peer.gone ? undefined : this.#reopen()
  }

  /** The ring of the block that `open` has just returned. */
  inbox(visitor: number): SharedInbox {
    this.#inbox ??= new SharedInbox(this.peer, this.#block!, visitor)
    return this.#inbox
  }

  close(): void {
    if (this.#block !== undefined) this.peer.closeBlock(this.#block)
    this.#block = undefined
    this.#inbox = undefined
    this.#seenState = UNSEEN
  }

  #reopen(): PairBlock | undefined {
    const block = this.peer.openBlock(this.number)
    if (block === undefined) return undefined
    this.#block = block
    const word = Atomics.load(block.words, BlockWord.State)
    if (receivesIn(word) && block.words[BlockWord.Kind] === this.kind) {
      this.#seenState = word
      return block
    }
    this.close()
    return undefined
  }
}
