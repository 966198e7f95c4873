import { type AgreementMessage, AgreementStep, type Proposal } from './agreement-message.ts'
import { chooseSurvivors } from './survivor-choice.ts'

/** How many members have to take part. */
export type Quorum = 'majority' | 'any'

/** What a call of this member asks for. */
export interface AgreementCall {
  readonly quorum: Quorum
  /** A member that says nothing for this long is left out. */
  readonly absentAfterMs: number
  readonly timeoutMs: number
}

/** Why a call ended without a set. */
export type AgreementFailure =
  /** Fewer than a majority can be reached, or could be within the time. */
  | { readonly kind: 'minority'; readonly reached: readonly number[] }
  /** Enough could be reached, and yet nothing was agreed in time. */
  | { readonly kind: 'timeout'; readonly reached: readonly number[] }
  /** This rank asks for another quorum. */
  | { readonly kind: 'mismatch'; readonly rank: number }

export interface AgreementOwner {
  send(rank: number, message: AgreementMessage): void
  /** The ranks that go on, with or without this one. Called once, even if this member did not ask. */
  decided(ranks: readonly number[]): void
  /** The call of this member is over without a set. */
  failed(failure: AgreementFailure): void
}

/** What one member has answered to a round. */
interface Answer {
  readonly proposal: Proposal | undefined
  readonly lost: ReadonlySet<number>
}

/** A round that this member leads. */
interface Round {
  readonly number: number
  sinceMs: number
  readonly answers: Map<number, Answer>
  readonly accepted: Set<number>
  /** Once the answers were enough. */
  proposal: Proposal | undefined
}

interface Call extends AgreementCall {
  readonly startedMs: number
}

/**
 * How the members of a group agree on who goes on after some are gone. There is one decision for each group, by rounds
 * of prepare and accept as in Paxos (Lamport, "Paxos made simple", 2001). The value is the set itself. It is a state
 * machine without a clock or promises.
 *
 * 1. The lowest rank that can be reached leads. Another leads if that one is lost, or nothing has come of it for long.
 *    A round is numbered attempt × size + rank + 1, so that no two ranks lead the same.
 * 2. With `majority` a round needs the promises of more than half of the group.
 * 3. A leader that finds nothing accepted before proposes those that have answered and can reach each other. They must
 *    be at least a majority of the group. It decides once all of them have accepted. So each rank in the set was there,
 *    and reached, when it was agreed on.
 * 4. Only its leader decides a round. So what was accepted in a round is void once that leader has answered a later
 *    one. If all of the set had to accept, it is also void once one of them has answered a later round without having
 *    accepted.
 * 5. If neither is known, a leader that is gone may have decided the set. It is proposed again as it is, and decided
 *    once a majority has accepted (`recovers`). Only then can the set contain a rank that died in the meantime.
 * 6. Any two majorities have a member in common, so there is at most one set in the whole group. That holds for any
 *    partition, and if a live rank was taken for dead.
 * 7. With `any` a round needs all that are there. Sides that are cut off from each other each find a set of their own.
 */
export class Agreement {
  readonly size: number
  readonly rank: number
  readonly #owner: AgreementOwner
  readonly #lost = new Set<number>()
  readonly #gone = new Set<number>()
  readonly #joined = new Set<number>()
  /** Ranks that were heard to ask for another quorum: in an earlier call, perhaps, or for good. */
  readonly #otherwise = new Set<number>()
  #promised = 0
  /**
   * By the quorum that was asked for: what a few have accepted among themselves is not to stand in the way of a
   * majority.
   */
  readonly #acceptedBy = new Map<Quorum, Proposal>()
  #decided: readonly number[] | undefined
  #call: Call | undefined
  #round: Round | undefined
  /** When something last came of a round of another; and until when another is let lead. */
  #progressMs = 0
  #yieldUntilMs = 0

  constructor(size: number, rank: number, owner: AgreementOwner) {
    this.size = size
    this.rank = rank
    this.#owner = owner
  }

  get decision(): readonly number[] | undefined {
    return this.#decided
  }

  get busy(): boolean {
    return this.#call !== undefined
  }

  /** Ranks that no longer take part, although they may be reachable. */
  get gone(): ReadonlySet<number> {
    return this.#gone
  }

  get lost(): ReadonlySet<number> {
    return this.#lost
  }

  // ---- what this member does
  // -----------------------------------------------------------------------------------------------------

  /**
   * Take part. One of `decided` and `failed` is called, unless `leave` is called first, or there is a decision already.
   */
  begin(call: AgreementCall, nowMs: number): void {
    this.#call = { ...call, startedMs: nowMs }
    this.#progressMs = nowMs
    this.#yieldUntilMs = 0
    this.#tellAll(AgreementStep.Join)
    this.#step(nowMs)
  }

  /** Take no further part; what was promised still holds. */
  leave(): void {
    if (this.#call === undefined) return
    this.#call = undefined
    this.#round = undefined
    if (this.#decided === undefined) this.#tellAll(AgreementStep.Rest)
  }

  /** Time goes by. */
  tick(nowMs: number): void {
    this.#step(nowMs)
  }

  /** The connection to a rank has ended, for good. */
  lostRank(rank: number, nowMs: number): void {
    this.#lost.add(rank)
    this.#step(nowMs)
  }

  /** A rank takes no part, although it may be reachable. */
  goneRank(rank: number, nowMs: number): void {
    this.#left(rank, true)
    this.#step(nowMs)
  }

  came(rank: number, message: AgreementMessage, nowMs: number): void {
    if (this.#lost.has(rank)) return
    if (message.step === AgreementStep.Decided) {
      this.#decide(message.proposal!.ranks)
      return
    }
    if (message.step === AgreementStep.Gone || message.step === AgreementStep.Rest)
      this.#left(rank, message.step === AgreementStep.Gone)
    else if (this.#decided !== undefined) this.#answerDecided(rank)
    else if (this.#call === undefined) this.#joinedLate(rank)
    else if (message.any !== (this.#call.quorum === 'any')) this.#otherwise.add(rank)
    else this.#take(rank, message, nowMs)
    this.#step(nowMs)
  }

  // ---- as one of all
  // -------------------------------------------------------------------------------------------------------------

  #take(rank: number, message: AgreementMessage, nowMs: number): void {
    this.#otherwise.delete(rank)
    this.#joinedLate(rank)
    switch (message.step) {
      case AgreementStep.Join:
        // It had not joined when the others were asked.
        if (this.#round !== undefined && this.#round.proposal === undefined && !this.#round.answers.has(rank))
          this.#send(rank, AgreementStep.Prepare, this.#round.number)
        return
      case AgreementStep.Prepare:
        this.#camePrepare(rank, message.round, nowMs)
        return
      case AgreementStep.Propose:
        this.#cameProposal(rank, message.proposal!, nowMs)
        return
      case AgreementStep.Promise:
        if (this.#round?.number === message.round && this.#round.proposal === undefined)
          this.#round.answers.set(rank, message)
        return
      case AgreementStep.Accept:
        if (this.#round?.number === message.round) this.#round.accepted.add(rank)
        return
      case AgreementStep.Refuse:
        this.#cameRefusal(message.round, nowMs)
        return
      default:
    }
  }

  #joinedLate(rank: number): void {
    this.#joined.add(rank)
    this.#gone.delete(rank)
  }

  #left(rank: number, forGood: boolean): void {
    this.#joined.delete(rank)
    this.#otherwise.delete(rank)
    if (forGood) this.#gone.add(rank)
  }

  #camePrepare(rank: number, round: number, nowMs: number): void {
    if (round < this.#promised) {
      this.#send(rank, AgreementStep.Refuse, this.#promised)
      return
    }
    this.#follow(rank, round, nowMs)
    this.#send(rank, AgreementStep.Promise, round, this.#accepted)
  }

  #cameProposal(rank: number, proposal: Proposal, nowMs: number): void {
    const { round, ranks, recovers } = proposal
    if (round < this.#promised) {
      this.#send(rank, AgreementStep.Refuse, this.#promised)
      return
    }
    this.#follow(rank, round, nowMs)
    // A set to which this member has lost the way would be of no use.
    if (!recovers && ranks.includes(this.rank) && ranks.some((member) => this.#lost.has(member))) {
      this.#send(rank, AgreementStep.Refuse, round)
      return
    }
    this.#acceptedBy.set(this.#call!.quorum, proposal)
    this.#send(rank, AgreementStep.Accept, round)
  }

  /** Another leads; what this member led before is void. */
  #follow(rank: number, round: number, nowMs: number): void {
    this.#promised = round
    this.#round = undefined
    this.#progressMs = nowMs
    if (rank < this.rank) this.#yieldTo(nowMs)
  }

  #cameRefusal(round: number, nowMs: number): void {
    if (this.#round === undefined || round < this.#round.number) return
    this.#promised = Math.max(this.#promised, round)
    this.#round = undefined
    // Of two that lead, the lower rank goes on.
    if ((round - 1) % this.size < this.rank) this.#yieldTo(nowMs)
    else this.#lead(nowMs)
  }

  #yieldTo(nowMs: number): void {
    this.#yieldUntilMs = nowMs + 2 * this.#call!.absentAfterMs
  }

  // ---- as the leader
  // ---------------------------------------------------------------------------------------------------------------

  #step(nowMs: number): void {
    const call = this.#call
    if (call === undefined || this.#decided !== undefined) return
    const reached = this.#reachable
    if (!this.#isQuorum(reached.length)) this.#fail({ kind: 'minority', reached })
    else if (nowMs - call.startedMs >= call.timeoutMs) this.#timedOut()
    else if (this.#round === undefined) this.#perhapsLead(call, reached, nowMs)
    else if (this.#round.proposal === undefined) this.#perhapsPropose(call, this.#round, reached, nowMs)
    else this.#perhapsDecide(call, this.#round, this.#round.proposal, reached, nowMs)
  }

  #perhapsLead(call: Call, reached: readonly number[], nowMs: number): void {
    const allHere = reached.every((rank) => rank === this.rank || this.#joined.has(rank))
    if (!allHere && nowMs - call.startedMs < call.absentAfterMs) return
    const [rank] = this.#otherwise
    if (rank !== undefined) {
      this.#fail({ kind: 'mismatch', rank })
      return
    }
    const here = reached.filter((rank) => rank === this.rank || this.#joined.has(rank))
    const position = here.indexOf(this.rank)
    const isNext = position === 0 && nowMs >= this.#yieldUntilMs
    // The ranks before this one had their time.
    const isOverdue = nowMs - this.#progressMs >= call.absentAfterMs * (1 + 2 * Math.max(1, position))
    if (isNext || isOverdue) this.#lead(nowMs)
  }

  #lead(nowMs: number): void {
    const attempt = Math.floor(Math.max(0, this.#promised - 1) / this.size) + 1
    const number = attempt * this.size + this.rank + 1
    this.#promised = number
    this.#progressMs = nowMs
    const own: Answer = { proposal: this.#accepted, lost: new Set(this.#lost) }
    this.#round = {
      number,
      sinceMs: nowMs,
      answers: new Map([[this.rank, own]]),
      accepted: new Set(),
      proposal: undefined,
    }
    this.#tellAll(AgreementStep.Prepare, number)
    this.#step(nowMs)
  }

  #perhapsPropose(call: Call, round: Round, reached: readonly number[], nowMs: number): void {
    const isOverdue = nowMs - round.sinceMs >= call.absentAfterMs
    if (!isOverdue && !reached.every((rank) => round.answers.has(rank) || !this.#joined.has(rank))) return
    const answers = new Map([...round.answers].filter(([rank]) => reached.includes(rank)))
    const before = this.#standing(answers)
    const ranks = before?.ranks ?? chooseSurvivors(new Map([...answers].map(([rank, { lost }]) => [rank, lost])))
    if (!this.#isQuorum(answers.size) || !this.#isQuorum(ranks.length)) {
      // More members may still come.
      if (isOverdue) this.#lead(nowMs)
      return
    }
    round.proposal = { round: round.number, ranks, recovers: before !== undefined }
    round.sinceMs = nowMs
    this.#acceptedBy.set(call.quorum, round.proposal)
    round.accepted.add(this.rank)
    for (const rank of reached)
      if (rank !== this.rank) this.#send(rank, AgreementStep.Propose, round.number, round.proposal)
    this.#step(nowMs)
  }

  /** What may have been decided in an earlier round. */
  #standing(answers: ReadonlyMap<number, Answer>): Proposal | undefined {
    let last: Proposal | undefined
    for (const { proposal } of answers.values())
      if (proposal !== undefined && proposal.round > (last?.round ?? 0)) last = proposal
    if (last === undefined || last.recovers) return last
    const isVoid = answers.has((last.round - 1) % this.size)
    const isRefused = last.ranks.some((rank) => answers.has(rank) && answers.get(rank)!.proposal?.round !== last.round)
    return isVoid || isRefused ? undefined : last
  }

  #perhapsDecide(call: Call, round: Round, proposal: Proposal, reached: readonly number[], nowMs: number): void {
    const { accepted } = round
    const isOverdue = nowMs - round.sinceMs >= call.absentAfterMs
    const { ranks, recovers } = proposal
    const all = recovers ? reached.filter((rank) => this.#joined.has(rank) || rank === this.rank) : ranks
    // A rank that accepted may have left since. So it is not enough that all present ranks have accepted: others may
    // find the value again.
    const isMajority = call.quorum === 'majority' && recovers
    const isEnough = isMajority ? this.#isQuorum(accepted.size) : all.every((rank) => accepted.has(rank))
    if (isEnough) this.#decide(ranks)
    else if (isOverdue || (!recovers && !ranks.every((rank) => reached.includes(rank)))) this.#lead(nowMs)
  }

  // ---- the end
  // -------------------------------------------------------------------------------------------------------------------

  #decide(ranks: readonly number[]): void {
    if (this.#decided !== undefined) return
    this.#decided = ranks
    this.#call = undefined
    this.#round = undefined
    // Every rank tells every other, so that none has to ask for what a rank that died has decided.
    for (let rank = 0; rank < this.size; rank += 1) if (rank !== this.rank) this.#answerDecided(rank)
    this.#owner.decided(ranks)
  }

  #timedOut(): void {
    const reached = this.#reachable.filter((rank) => rank === this.rank || this.#joined.has(rank))
    this.#fail({ kind: this.#isQuorum(reached.length) ? 'timeout' : 'minority', reached })
  }

  #fail(failure: AgreementFailure): void {
    this.leave()
    this.#owner.failed(failure)
  }

  // ---- inside
  // -------------------------------------------------------------------------------------------------------------------

  get #accepted(): Proposal | undefined {
    return this.#call === undefined ? undefined : this.#acceptedBy.get(this.#call.quorum)
  }

  /** This one among them. */
  get #reachable(): number[] {
    const ranks: number[] = []
    for (let rank = 0; rank < this.size; rank += 1) if (!this.#lost.has(rank) && !this.#gone.has(rank)) ranks.push(rank)
    return ranks
  }

  #isQuorum(count: number): boolean {
    return this.#call?.quorum === 'any' || count * 2 > this.size
  }

  #tellAll(step: number, round = 0): void {
    for (let rank = 0; rank < this.size; rank += 1) if (rank !== this.rank) this.#send(rank, step, round)
  }

  #answerDecided(rank: number): void {
    const ranks = this.#decided!
    this.#send(rank, AgreementStep.Decided, 0, { round: 0, ranks, recovers: false })
  }

  #send(rank: number, step: number, round: number, proposal?: Proposal): void {
    if (this.#lost.has(rank)) return
    const any = this.#call?.quorum === 'any'
    this.#owner.send(rank, { step, any, round, proposal, lost: new Set(this.#lost) })
  }
}
