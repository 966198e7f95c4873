import { randomInt } from 'node:crypto'
import { soon } from '../runtime/index.ts'
import type { Outcome } from './machine/outcome.ts'
import { COMMAND_HEAD_BYTES, FRAGMENT_HEAD_BYTES, RecordWriter } from './machine/records.ts'
import { CELL_HEADER_BYTES } from './replica/cell.ts'

/** A command without its outcome. */
export interface Proposal {
  readonly bytes: Uint8Array
  /** 0 until it is sent for the first time. */
  sequence: number
  /** Of `performance.now()`. */
  readonly deadlineMs: number
  done(outcome: Outcome): void
  /** It took too long. */
  late(): void
  /** There will be no outcome. */
  fail(error: unknown): void
}

/** Commands under way at a time. */
const UNDER_WAY_MAX = 1024
const BYTES_UNDER_WAY_MAX = 4 * 2 ** 20

/**
 * The commands of one program, in order. Each has a number in the session, by which replicas know it again when it is
 * proposed twice. The first of a session is alone under way: it makes the session known.
 */
export class Proposals {
  id: number = newId()
  readonly #send: (records: Uint8Array) => void
  readonly #entryBytes: number
  readonly #writer = new RecordWriter()
  /** By number, from that of the oldest on, without those that have their outcome. */
  readonly #underWay: (Proposal | undefined)[] = []
  #underWayCount = 0
  #waiting: Proposal[] = []
  #bytes = 0
  #last = 0
  #isKnown = false
  #usedMs = 0
  #isFlushing = false

  /** `cellBytes`: what an entry takes at most. */
  constructor(cellBytes: number, send: (records: Uint8Array) => void) {
    this.#entryBytes = cellBytes - CELL_HEADER_BYTES
    this.#send = send
  }

  /** Commands without an outcome. */
  get size(): number {
    return this.#underWayCount + this.#waiting.length
  }

  add(proposal: Proposal): void {
    this.#waiting.push(proposal)
    this.#sendSoon()
  }

  /** Its caller waits no more. It may have been sent. */
  forget(proposal: Proposal): void {
    if (proposal.sequence > 0) {
      this.#take(proposal.sequence)
      // What makes the session known may be lost.
      if (!this.#isKnown) this.#begin()
      this.#sendSoon()
    } else this.#waiting = this.#waiting.filter((other) => other !== proposal)
  }

  /** Tell those that are late, and say when the next one will be. */
  expire(nowMs: number): number {
    let next = Infinity
    for (const proposal of this.#all())
      if (proposal.deadlineMs > nowMs) next = Math.min(next, proposal.deadlineMs)
      else proposal.late()
    return next
  }

  /** A decided command of some session. */
  outcome(session: number, sequence: number, outcome: Outcome): void {
    if (session !== this.id) return
    const proposal = this.#take(sequence)
    proposal?.done(outcome)
    if (outcome.kind === 'expired') this.#expired(outcome)
    else this.#isKnown = true
    this.#sendSoon()
  }

  /** What was sent may be lost. */
  sendAgain(): void {
    for (const proposal of this.#underWay) if (proposal !== undefined) this.#write(proposal)
    this.#flush()
  }

  /** Called before a session that was not used for `idleMs` might have expired. */
  renewAfter(idleMs: number, nowMs: number): void {
    if (this.size === 0 && nowMs - this.#usedMs > idleMs) this.#begin()
    this.#usedMs = nowMs
  }

  /** All that have no outcome; none of them will have one. */
  end(): readonly Proposal[] {
    const all = this.#all()
    this.#waiting = []
    return all
  }

  #all(): readonly Proposal[] {
    return [...this.#underWay.filter((proposal) => proposal !== undefined), ...this.#waiting]
  }

  /** What else is under way was sent in the same session. */
  #expired(outcome: Outcome): void {
    for (const proposal of [...this.#underWay]) if (proposal !== undefined) this.#take(proposal.sequence)!.done(outcome)
    this.#begin()
  }

  #begin(): void {
    this.id = newId()
    this.#last = 0
    this.#isKnown = false
  }

  #take(sequence: number): Proposal | undefined {
    const underWay = this.#underWay
    if (underWay.length === 0) return undefined
    const place = sequence - underWay[0]!.sequence
    const proposal = underWay[place]
    if (proposal === undefined) return undefined
    underWay[place] = undefined
    while (underWay.length > 0 && underWay[0] === undefined) underWay.shift()
    this.#underWayCount -= 1
    this.#bytes -= proposal.bytes.length
    return proposal
  }

  #sendSoon(): void {
    if (this.#isFlushing || this.#waiting.length === 0) return
    this.#isFlushing = true
    soon(() => {
      this.#isFlushing = false
      this.#sendWaiting()
    })
  }

  #sendWaiting(): void {
    let count = 0
    for (const proposal of this.#waiting) {
      const limit = this.#isKnown ? UNDER_WAY_MAX : 1
      if (this.#underWayCount >= limit || (this.#underWayCount > 0 && this.#bytes >= BYTES_UNDER_WAY_MAX)) break
      count += 1
      this.#last += 1
      proposal.sequence = this.#last
      this.#underWay.push(proposal)
      this.#underWayCount += 1
      this.#bytes += proposal.bytes.length
      this.#write(proposal)
    }
    if (count > 0) this.#waiting = this.#waiting.slice(count)
    this.#flush()
  }

  #write({ sequence, bytes }: Proposal): void {
    const session = this.id
    const acknowledged = this.#underWay[0]!.sequence - 1
    let rest = bytes
    let parts = 0
    while (COMMAND_HEAD_BYTES + rest.length > this.#entryBytes) {
      const length = Math.min(rest.length, this.#entryBytes - FRAGMENT_HEAD_BYTES)
      this.#flush()
      this.#writer.fragment({ session, sequence, part: parts }, rest.subarray(0, length))
      rest = rest.subarray(length)
      parts += 1
    }
    if (this.#writer.lengthBytes + COMMAND_HEAD_BYTES + rest.length > this.#entryBytes) this.#flush()
    this.#writer.command({ session, sequence, acknowledged, parts }, rest)
  }

  #flush(): void {
    if (this.#writer.lengthBytes === 0) return
    this.#send(this.#writer.bytes())
    this.#writer.reset()
  }
}

function newId(): number {
  return randomInt(1, 2 ** 48 - 1)
}
