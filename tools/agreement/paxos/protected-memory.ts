import type { RegionRule } from '../model/memory.ts'
import type { Acts, AgreementEvent, Data, Register } from '../model/process.ts'
import type { Accepted, Agent, AgentReply } from './agent.ts'

const REGION = 'slots'

/** What a process leaves in its slot. */
export interface Slot {
  /** The ballot that it has begun. */
  readonly begun: number
  /** What it has written for others to adopt. */
  readonly accepted: Accepted | null
}

export const slotOf = (data: Data): Slot | null => data as unknown as Slot | null

/** A slot for each process; one process at a time may write, and process 0 is the first. */
export function protectedSlots(processes: number): RegionRule {
  return { name: REGION, registers: processes, writers: [0], changes: 'take' }
}

/**
 * A memory with permissions, as an agent (PODC'19, section 5.1: *Protected Memory Paxos*). To prepare, a process takes
 * the permission to write, says in its slot which ballot it has begun, and reads all slots. To accept, it writes its
 * slot. That write succeeds only while no one else has taken the permission, so nothing has to be read afterwards.
 *
 * A majority may have promised while this memory is still preparing. It accepts only after its own slots were read, and
 * show no higher ballot. Otherwise a process with a low ballot could take the permission back after one with a higher
 * ballot had decided. It would write here, and decide differently. Exploration has shown it.
 */
export class ProtectedMemory implements Agent {
  stage: 'idle' | 'permit' | 'begin' | 'read' | 'accept' = 'idle'
  ballot = 0
  /** What to write once this memory has promised. */
  next: string | null = null
  readonly me: number
  readonly memory: number
  readonly processes: number

  constructor(me: number, memory: number, processes: number) {
    this.me = me
    this.memory = memory
    this.processes = processes
  }

  prepare(ballot: number, acts: Acts): undefined {
    this.ballot = ballot
    this.next = null
    this.stage = 'permit'
    acts.permit(this.memory, REGION, [this.me], this.tag)
  }

  accept(ballot: number, value: string, acts: Acts): undefined {
    if (this.stage !== 'idle' && this.ballot === ballot) this.next = value
    else this.write('accept', { begun: ballot, accepted: { ballot, value } }, acts)
  }

  hear(event: AgreementEvent, acts: Acts): AgentReply | undefined {
    if (event.type !== 'answer' || event.memory !== this.memory || event.tag !== this.tag) return undefined
    if (!event.ok) return this.end({ ok: false, ballot: 0 })
    switch (this.stage) {
      case 'idle':
        return undefined
      case 'permit':
        this.write('begin', { begun: this.ballot, accepted: null }, acts)
        return undefined
      case 'begin':
        this.stage = 'read'
        acts.read(this.memory, everySlot(this.processes), this.tag)
        return undefined
      case 'read': {
        const promise = promiseOf(event.values.map(slotOf), this.ballot)
        if (!promise.ok || this.next === null) return this.end(promise)
        this.write('accept', { begun: this.ballot, accepted: { ballot: this.ballot, value: this.next } }, acts)
        return undefined
      }
      case 'accept':
        return this.end({ ok: true, accepted: null })
    }
  }

  private get tag(): string {
    return `${this.stage} ${this.ballot}`
  }

  private write(stage: 'begin' | 'accept', slot: Slot, acts: Acts): void {
    this.stage = stage
    this.ballot = slot.begun
    acts.write(this.memory, { region: REGION, index: this.me }, slot as unknown as Data, this.tag)
  }

  private end(reply: AgentReply): AgentReply {
    this.stage = 'idle'
    return reply
  }
}

const everySlot = (processes: number): Register[] =>
  Array.from({ length: processes }, (_, index) => ({ region: REGION, index }))

/** What slots mean for a ballot: a refusal by a higher one, or a promise with what was accepted last. */
export function promiseOf(slots: readonly (Slot | null)[], ballot: number): AgentReply {
  const highest = Math.max(0, ...slots.map((slot) => slot?.begun ?? 0))
  if (highest > ballot) return { ok: false, ballot: highest }
  let best: Accepted | null = null
  for (const slot of slots) {
    const accepted = slot?.accepted ?? null
    if (accepted !== null && accepted.ballot > (best?.ballot ?? 0)) best = accepted
  }
  return { ok: true, accepted: best }
}
