import { BarrierInquiry } from './barrier-inquiry.ts'
import { BarrierWord } from './barrier-words.ts'
import type { MembershipView } from './membership-machine.ts'
import { MeshChannel } from './mesh-channel.ts'

/**
 * Barriers of a group that grows, in the agent: all members of the present view. The lowest rank is the root.
 *
 * Barriers have the same number at all ranks. A barrier belongs to the view in which the root has released it.
 *
 * 1. In each view each member reports to the root which barrier it has entered, and the last one that it has passed.
 *    It reports again whenever it enters one.
 * 2. Once all members have reported, the root knows the last barrier that any of them has passed. All that were in that
 *    barrier had entered it, so the root releases those who have not heard of it. A new member begins after it.
 * 3. When all have entered the next one, the root releases it.
 *
 * A root that dies in step 3 may have told only some. They report it to the next root, which does step 2.
 *
 *   24 bytes: channel, kind, -, -, then Int32
 *   Report    to the root     [1] epoch [2] entered [3] passed [4] the epoch of that
 *   Released  root to all     [1] epoch [2] barrier            [4] the epoch of that
 *   Where     to all          [5] which question
 *   Here      to the asker    [2] entered       [5] the question
 */
const Kind = { Report: 1, Released: 2, Where: 3, Here: 4 } as const
const MESSAGE_BYTES = 24
/** How many views are remembered: a member may be that far behind in a barrier. */
const VIEWS_KEPT = 64
/** A new member has neither entered nor passed any. */
const NONE = -1

export interface ViewBarrierOptions {
  readonly rank: number
  readonly words: Int32Array
  readonly view: MembershipView
  /** It becomes a member later. */
  readonly isCandidate: boolean
  readonly send: (rank: number, bytes: Uint8Array) => void
  /** This rank knows which barrier is next, and may enter it. */
  readonly onBegin: () => void
}

interface Report {
  readonly entered: number
  readonly passed: number
  readonly passedIn: number
}

export class ViewBarrier {
  readonly #options: ViewBarrierOptions
  readonly #words: Int32Array
  readonly #inquiry: BarrierInquiry
  #view: MembershipView
  #isCandidate: boolean
  readonly #views = new Map<number, MembershipView>()
  /** The last barrier that the main thread has entered, as of the last look. */
  #entered = 0
  #passed: number
  /** The epoch in which the last barrier was released. */
  #passedIn = 0
  /** At the root, in this epoch. */
  readonly #reports = new Map<number, Report>()
  /** Of epochs that this rank is not in yet. */
  #early: { readonly from: number; readonly epoch: number; readonly report: Report }[] = []

  constructor(options: ViewBarrierOptions) {
    this.#options = options
    this.#words = options.words
    this.#inquiry = new BarrierInquiry(options.words)
    this.#view = options.view
    this.#isCandidate = options.isCandidate
    this.#passed = options.isCandidate ? NONE : 0
    this.#views.set(options.view.epoch, options.view)
  }

  /** The last barrier that this rank was released from. */
  get passed(): number {
    return this.#passed
  }

  /** The view whose members were in it. */
  get passedView(): MembershipView {
    return this.#views.get(this.#passedIn) ?? this.#view
  }

  /** Look at what the main thread wants. Returns true if that was something new. */
  turn(): boolean {
    const entered = Atomics.load(this.#words, BarrierWord.Entered)
    const question = this.#inquiry.turn()
    const any = this.#passed !== NONE && entered !== this.#entered
    if (any) {
      this.#entered = entered
      this.#report()
    }
    if (question !== undefined) this.#ask(question)
    return any || question !== undefined
  }

  viewChanged(view: MembershipView): void {
    this.#view = view
    this.#isCandidate = false
    this.#views.set(view.epoch, view)
    this.#views.delete(view.epoch - VIEWS_KEPT)
    this.#reports.clear()
    this.#report()
    const early = this.#early
    this.#early = early.filter(({ epoch }) => epoch > view.epoch)
    for (const { from, epoch, report } of early) if (epoch === view.epoch) this.#take(from, report)
  }

  /** False if the bytes are not a message of a barrier. */
  receive(from: number, bytes: Uint8Array): boolean {
    if (bytes.length !== MESSAGE_BYTES) return false
    const words = new Int32Array(bytes.slice().buffer)
    const [epoch, barrier, passed, passedIn, question] = [words[1]!, words[2]!, words[3]!, words[4]!, words[5]!]
    switch (bytes[1]) {
      case Kind.Report:
        if (epoch === this.#view.epoch) this.#take(from, { entered: barrier, passed, passedIn })
        else if (epoch > this.#view.epoch)
          this.#early.push({ from, epoch, report: { entered: barrier, passed, passedIn } })
        return true
      case Kind.Released:
        // What an earlier root has released is in the reports to this one.
        if (epoch === this.#view.epoch && from === this.#root) this.#release(barrier, passedIn)
        return true
      case Kind.Where:
        this.#send(from, Kind.Here, [0, this.#entered, 0, 0, question])
        return true
      case Kind.Here:
        this.#inquiry.take(from, barrier >= this.#entered, question)
        return true
      default:
        return false
    }
  }

  get #root(): number {
    return this.#view.members[0]!
  }

  #report(): void {
    if (this.#isCandidate) return
    const report = { entered: this.#entered, passed: this.#passed, passedIn: this.#passedIn }
    if (this.#root === this.#options.rank) this.#take(this.#root, report)
    else this.#send(this.#root, Kind.Report, [this.#view.epoch, report.entered, report.passed, report.passedIn, 0])
  }

  #take(from: number, report: Report): void {
    this.#reports.set(from, report)
    const { epoch, members } = this.#view
    if (this.#root !== this.#options.rank || !members.every((rank) => this.#reports.has(rank))) return
    const last = [...this.#reports.values()].reduce((a, b) => (b.passed > a.passed ? b : a))
    if ([...this.#reports.values()].some(({ passed }) => passed < last.passed))
      this.#releaseAll(last.passed, last.passedIn)
    const next = last.passed + 1
    if ([...this.#reports.values()].every(({ entered }) => entered >= next)) this.#releaseAll(next, epoch)
  }

  #releaseAll(barrier: number, passedIn: number): void {
    const { epoch, members } = this.#view
    for (const [rank, { entered }] of this.#reports)
      this.#reports.set(rank, { entered: Math.max(entered, barrier), passed: barrier, passedIn })
    for (const rank of members)
      if (rank !== this.#root) this.#send(rank, Kind.Released, [epoch, barrier, 0, passedIn, 0])
    this.#release(barrier, passedIn)
  }

  #release(barrier: number, passedIn: number): void {
    if (barrier <= this.#passed) return
    const isFirst = this.#passed === NONE
    this.#passed = barrier
    this.#passedIn = passedIn
    if (isFirst) {
      this.#entered = barrier
      Atomics.store(this.#words, BarrierWord.Entered, barrier)
    }
    Atomics.store(this.#words, BarrierWord.Released, barrier)
    Atomics.notify(this.#words, BarrierWord.Released)
    if (isFirst) this.#options.onBegin()
  }

  #ask(question: number): void {
    const others = this.#view.members.filter((rank) => rank !== this.#options.rank)
    this.#inquiry.begin(question, this.#options.rank, others)
    for (const other of others) this.#send(other, Kind.Where, [0, 0, 0, 0, question])
  }

  #send(to: number, kind: number, words: readonly [number, number, number, number, number]): void {
    const bytes = new Uint8Array(MESSAGE_BYTES)
    new Int32Array(bytes.buffer).set(words, 1)
    bytes[0] = MeshChannel.Barrier
    bytes[1] = kind
    this.#options.send(to, bytes)
  }
}
