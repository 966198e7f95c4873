import { randomUUID } from 'node:crypto'
import process from 'node:process'
import type { Group } from '../../cluster/index.ts'
import { checkAbort, checkIteration, checkWhole } from '../../native/index.ts'
import { Condition } from '../condition.ts'
import { ConsensusError } from '../errors.ts'
import type { Replicated } from '../replicated.ts'
import { ElectedTerm, isFresh } from './elected-term.ts'
import type { Candidate, ElectionCommand, ElectionMachine, Tenure } from './election-machine.ts'

/** Who leads. */
export interface ElectedLeader {
  readonly rank: number
  readonly processId: number
  /** A fencing token, greater with each leader. */
  readonly token: number
}

/** What {@link Election} is made of. */
export interface ElectionParts {
  readonly group: Group
  readonly name: string
  readonly ttlMs: number
  readonly machine: ElectionMachine
  readonly log: Replicated<ElectionMachine>
}

/** How long the others have to agree that this process is no candidate, when its election is closed. */
const WITHDRAW_MS_MAX = 1000
/** After these a command is proposed again. */
const AGAIN: readonly unknown[] = ['ERR_AETHER_CONSENSUS_TIMEOUT', 'ERR_AETHER_CONSENSUS_EXPIRED']

/**
 * One leader at a time among the processes that have opened it, for jobs that one of them has to do. Made by
 * {@link elect}.
 *
 * A leader that has left or died is followed at once; one that is stopped, once it has not renewed for `ttlMs`.
 */
export class Election implements AsyncDisposable {
  readonly #parts: ElectionParts
  readonly #changed = new Condition()
  /** Campaigns of this object that are not over, and their terms. */
  readonly #own = new Map<string, ElectedTerm | undefined>()
  /** Begins the ids of this object's campaigns. */
  readonly #prefix = randomUUID()
  #campaigns = 0
  /** Those that this process is telling the others to forget. */
  readonly #withdrawing = new Set<string>()
  /** Ranks that have left or died meanwhile. One that is not known may just have joined. */
  readonly #ended = new Set<number>()
  readonly #stopEvents: () => void
  /** The leader as it was when the timer was set. */
  #watched: Tenure | undefined
  #expiry: NodeJS.Timeout | undefined
  #isSeeing = false
  #closing: Promise<void> | undefined

  /** @internal Made by {@link elect}. */
  constructor(parts: ElectionParts) {
    this.#parts = parts
    this.#stopEvents = parts.group.onEvent(({ type, rank }) => {
      if (type !== 'joined') this.#ended.add(rank)
      this.#seeSoon()
    })
    parts.machine.onChange = () => this.#seeSoon()
    this.#seeSoon()
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** The present leader, as far as is known here. */
  get leader(): ElectedLeader | undefined {
    const { leader } = this.#parts.machine
    return leader && { rank: leader.rank, processId: leader.processId, token: leader.token }
  }

  /**
   * Resolves when this process leads. Campaigns lead in the order in which they began.
   * @throws ConsensusError `ERR_AETHER_CONSENSUS_CLOSED` if the election is closed meanwhile; the reason of `signal`.
   */
  async campaign(options?: { readonly signal?: AbortSignal }): Promise<ElectedTerm> {
    checkAbort('campaign', options)
    this.#checkOpen()
    const { group, ttlMs } = this.#parts
    this.#campaigns += 1
    const id = `${this.#prefix}.${this.#campaigns}`
    this.#own.set(id, undefined)
    try {
      const candidate: Candidate = { id, rank: group.rank, processId: process.pid, ttlMs }
      return await this.#stand(candidate, options?.signal)
    } catch (error) {
      this.#withdraw(id).catch(() => {})
      throw error
    }
  }

  /** The leader, now and after each change; undefined while there is none. It ends when this is closed. */
  async *observe(options?: { readonly signal?: AbortSignal }): AsyncGenerator<ElectedLeader | undefined, void> {
    checkIteration('observe', options)
    this.#checkOpen()
    for (let seen: number | undefined = -1; !this.closed; ) {
      const { leader } = this
      if (leader?.token !== seen) {
        seen = leader?.token
        yield leader
      } else await this.#changed.until(() => this.closed || this.leader?.token !== seen, options?.signal)
    }
  }

  /**
   * Let a process of another rank lead, before others that wait. It has to campaign, and this process to lead. The term
   * of this process is over then, in any case.
   * @throws ConsensusError `ERR_AETHER_CONSENSUS_NOT_LEADER`, or `ERR_AETHER_CONSENSUS_NO_CANDIDATE`.
   */
  async transfer(rank: number): Promise<void> {
    checkWhole('rank', rank, 0, Number.MAX_SAFE_INTEGER)
    this.#checkOpen()
    const [id, term] = [...this.#own].find(([, own]) => own?.isLeader === true) ?? []
    if (id === undefined || term === undefined) {
      const message = 'this process does not lead; call transfer() in the one where campaign() has resolved'
      throw new ConsensusError('NOT_LEADER', message)
    }
    if (!this.#parts.machine.waiting.some((candidate) => candidate.rank === rank)) throw noCandidate(rank)
    term.end(`rank ${rank} leads`)
    const isDone = await this.#propose({ type: 'transfer', id, rank })
    await this.#withdraw(id)
    if (!isDone) throw noCandidate(rank)
  }

  /** Lead and campaign no more. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    // Those who wait see that it is closed from here on.
    this.#changed.wake()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Until it leads, and others know that it lives. */
  async #stand(candidate: Candidate, signal: AbortSignal | undefined): Promise<ElectedTerm> {
    const { machine } = this.#parts
    const { id, ttlMs } = candidate
    for (;;) {
      await this.#propose({ type: 'campaign', candidate }, signal)
      await this.#changed.until(() => {
        this.#checkOpen()
        return machine.leader?.id === id || !machine.has(id)
      }, signal)
      const token = machine.leader?.token
      const sentMs = performance.now()
      const isHeld = await this.#propose({ type: 'renew', id }, signal)
      this.#checkOpen()
      if (!isHeld || token === undefined || !isFresh(sentMs, ttlMs)) continue
      const renew = () => this.#propose({ type: 'renew', id })
      const term = new ElectedTerm({ token, ttlMs, renew, withdraw: () => this.#withdraw(id) }, sentMs)
      this.#own.set(id, term)
      // What has changed in between is seen again.
      this.#seeSoon()
      return term
    }
  }

  /** A campaign of this object, or one whose process has ended, is over. */
  async #withdraw(id: string): Promise<void> {
    this.#own.delete(id)
    if (this.#withdrawing.has(id) || this.#parts.log.closed) return
    this.#withdrawing.add(id)
    try {
      await this.#parts.log.propose({ type: 'withdraw', id })
    } finally {
      this.#withdrawing.delete(id)
      // If it failed, it is tried again.
      this.#seeSoon()
    }
  }

  /** Until it is decided. The command may be applied twice, without harm. */
  async #propose(command: ElectionCommand, signal?: AbortSignal): Promise<boolean> {
    for (;;) {
      try {
        return await this.#parts.log.propose(command, signal === undefined ? {} : { signal })
      } catch (error) {
        if (!AGAIN.includes((error as Partial<ConsensusError>).code)) throw error
      }
    }
  }

  /** Once for all that changes in one turn, and not while the machine is at work. */
  #seeSoon(): void {
    if (this.#isSeeing) return
    this.#isSeeing = true
    queueMicrotask(() => {
      this.#isSeeing = false
      if (!this.closed) this.#see()
    })
  }

  #see(): void {
    const { machine } = this.#parts
    for (const [id, term] of this.#own) {
      if (term === undefined || machine.leader?.id === id) continue
      term.end('another process leads')
      this.#own.delete(id)
    }
    // Also one whose command came after it was withdrawn, or after its process ended.
    for (const { id, rank } of machine.candidates) {
      const isOver = id.startsWith(this.#prefix) ? !this.#own.has(id) : this.#ended.has(rank)
      if (isOver) this.#withdraw(id).catch(() => {})
    }
    this.#watch(machine.leader)
    this.#changed.wake()
  }

  /**
   * What is applied here was sent before. So time that passes here from now on has passed for the leader, too, when
   * this process says that its term has expired.
   */
  #watch(leader: Tenure | undefined): void {
    if (leader === this.#watched) return
    clearTimeout(this.#expiry)
    this.#watched = leader
    if (leader === undefined) return
    const { token, renewals, ttlMs } = leader
    const expire = (): void => void this.#propose({ type: 'expire', token, renewals }).catch(() => {})
    this.#expiry = setTimeout(expire, ttlMs).unref()
  }

  async #close(): Promise<void> {
    this.#stopEvents()
    clearTimeout(this.#expiry)
    for (const term of this.#own.values()) term?.end('its election was closed')
    const { log } = this.#parts
    const withdrawals = [...this.#own.keys()].map((id) =>
      log.propose({ type: 'withdraw', id }, { timeoutMs: WITHDRAW_MS_MAX }).catch(() => {}),
    )
    await Promise.all(withdrawals)
    await log.close()
  }

  #checkOpen(): void {
    if (!this.closed) return
    throw new ConsensusError('CLOSED', `the election '${this.#parts.name}' is closed; call elect() again`)
  }
}

function noCandidate(rank: number): ConsensusError {
  return new ConsensusError('NO_CANDIDATE', `rank ${rank} does not campaign; let it call campaign() first`)
}
