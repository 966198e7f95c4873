import { ClaimState, claimState, claimWord, isClaimOf, ringShift } from './claims.ts'
import { BlockWord, RESULT_WORDS, ResultWord } from './layout.ts'
import type { PairBlock } from './pair-block.ts'

/** The device whose memory the requests name. */
export interface InboxOwner {
  /** Wake it: it has work that no completion announces. */
  ring(): void
}

/**
 * Where messages are put at the receiver. The oldest receive request of a ring is inspected, then taken, then published
 * with its result.
 */
export interface Inbox {
  readonly peer: InboxOwner
  readonly block: PairBlock
  /** The slot of the oldest request, or -1 if there is none. */
  peek(): number
  /** Take the request that `peek` found. Returns false if another sender was faster. */
  take(): boolean
  /** `destination` is the queue pair that the message is for. */
  publish(
    opcode: number,
    flags: number,
    immediate: number,
    status: number,
    byteLength: number,
    source: number,
    destination: number,
  ): void
}

/** The ring of a connected queue pair: no other sender takes from it. */
export class OwnInbox implements Inbox {
  readonly peer: InboxOwner
  readonly block: PairBlock
  /** Receive requests that this end has consumed. */
  #consumed: number
  /**
   * The number of requests posted, as of the last look. Requests are taken back only by a change of state, after which
   * this object is not used any more.
   */
  #posted: number

  constructor(peer: InboxOwner, block: PairBlock) {
    this.peer = peer
    this.block = block
    this.#consumed = Atomics.load(block.words, BlockWord.Consumed)
    this.#posted = this.#consumed
  }

  peek(): number {
    const { words, mask } = this.block
    if (this.#posted === this.#consumed) this.#posted = Atomics.load(words, BlockWord.Posted)
    return this.#posted === this.#consumed ? -1 : this.#consumed & mask
  }

  take(): boolean {
    return true
  }

  publish(
    opcode: number,
    flags: number,
    immediate: number,
    status: number,
    byteLength: number,
    source: number,
    destination: number,
  ): void {
    const { block } = this
    const slot = this.#consumed & block.mask
    writeResult(block, slot, opcode, flags, immediate, status, byteLength, source, destination)
    this.#consumed = (this.#consumed + 1) | 0
    block.words[BlockWord.Consumed] = this.#consumed
    Atomics.store(block.results, slot * RESULT_WORDS + ResultWord.Sequence, this.#consumed)
  }
}

/** A ring that many send to: slots are claimed one by one (claims.ts). */
export class SharedInbox implements Inbox {
  readonly peer: InboxOwner
  readonly block: PairBlock
  readonly #visitor: number
  readonly #shift: number
  #position = 0

  constructor(peer: InboxOwner, block: PairBlock, visitor: number) {
    this.peer = peer
    this.block = block
    this.#visitor = visitor
    this.#shift = ringShift(block.mask)
  }

  peek(): number {
    const { words, claims, mask } = this.block
    // Bounded, because a broken owner could make this loop for ever.
    for (let tries = 2 * (mask + 2); tries > 0; tries -= 1) {
      const next = Atomics.load(words, BlockWord.Next)
      if (next === Atomics.load(words, BlockWord.Posted)) return -1
      const word = Atomics.load(claims, next & mask)
      if (!isClaimOf(word, next, this.#shift)) continue
      if (claimState(word) === ClaimState.Posted) {
        this.#position = next
        return next & mask
      }
      Atomics.compareExchange(words, BlockWord.Next, next, (next + 1) | 0)
    }
    return -1
  }

  take(): boolean {
    const { words, claims, mask } = this.block
    const position = this.#position
    const posted = claimWord(ClaimState.Posted, position, this.#shift)
    const claimed = claimWord(ClaimState.Claimed, position, this.#shift, this.#visitor)
    if (Atomics.compareExchange(claims, position & mask, posted, claimed) !== posted) return false
    Atomics.compareExchange(words, BlockWord.Next, position, (position + 1) | 0)
    return true
  }

  publish(
    opcode: number,
    flags: number,
    immediate: number,
    status: number,
    byteLength: number,
    source: number,
    destination: number,
  ): void {
    const { words, claims, mask } = this.block
    const slot = this.#position & mask
    writeResult(this.block, slot, opcode, flags, immediate, status, byteLength, source, destination)
    Atomics.store(claims, slot, claimWord(ClaimState.Done, this.#position, this.#shift, this.#visitor))
    const limit = words[BlockWord.Limit]!
    if (limit !== 0 && this.#left < limit) this.peer.ring()
  }

  /** Requests that are not claimed yet. */
  get #left(): number {
    const { words } = this.block
    return (Atomics.load(words, BlockWord.Posted) - Atomics.load(words, BlockWord.Next)) | 0
  }
}

/**
 * Write the result; the caller publishes it. The arguments are plain numbers, since a message of eight bytes costs
 * little more than an object.
 */
function writeResult(
  block: PairBlock,
  slot: number,
  opcode: number,
  flags: number,
  immediate: number,
  status: number,
  byteLength: number,
  source: number,
  destination: number,
): void {
  const { results, resultDoubles } = block
  const at = slot * RESULT_WORDS
  results[at + ResultWord.Opcode] = opcode
  results[at + ResultWord.Flags] = flags
  results[at + ResultWord.Immediate] = immediate
  results[at + ResultWord.Status] = status
  results[at + ResultWord.SourceNumber] = source
  results[at + ResultWord.VendorError] = 0
  results[at + ResultWord.Number] = destination
  resultDoubles[(at + ResultWord.ByteLength) / 2] = byteLength
}
