import {
  decodeStatement,
  encodeStatement,
  type MembershipEffect,
  type MembershipEvent,
  MembershipMachine,
  type MembershipView,
  type Mesh,
} from 'aether-dsm/internal/cluster'
import { LEASE_NS } from './hazard.ts'
import { ViolationError } from './observer.ts'

/** As the agents do. */
const BEAT_NS = 1_000_000_000

export interface SimulationMembershipOptions {
  readonly rank: number
  readonly size: number
  readonly mesh: Mesh
  readonly now: () => number
  /** The members are these now; nothing comes from any other. */
  readonly onView: (view: MembershipView) => void
  /** This member does not belong to the group any more. */
  readonly onEnd: () => void
}

/** Which members there are, by the state machine of the agents: what it wants to have said is said over the mesh. */
export class SimulationMembership {
  readonly #options: SimulationMembershipOptions
  readonly #machine: MembershipMachine
  /** What was asked for and is not done yet, in order. */
  readonly #effects: MembershipEffect[] = []
  #beatNs = 0

  constructor(options: SimulationMembershipOptions) {
    const { rank, size } = options
    this.#options = options
    this.#machine = new MembershipMachine({ rank, size, leaseNs: LEASE_NS, beatNs: BEAT_NS })
  }

  get view(): MembershipView {
    return this.#machine.view
  }

  /** When it wants to run. */
  get wakeNs(): number {
    return this.#beatNs
  }

  run(): void {
    const nowNs = this.#options.now()
    if (nowNs < this.#beatNs) return
    this.#beatNs = nowNs + BEAT_NS
    this.#step({ type: 'tick', heard: this.#options.mesh.takeHeard() })
  }

  suspected(rank: number, why: string): void {
    this.#step({ type: 'suspected', rank, why })
  }

  /** The end of a member is certain, and all that it had sent is here. */
  ended(rank: number): void {
    this.#options.mesh.bury(rank)
    this.#step({ type: 'ended', rank, why: 'its process ended' })
  }

  hear(from: number, bytes: Uint8Array): void {
    const statement = decodeStatement(bytes, this.#options.size)
    if (statement === undefined) throw new ViolationError(`rank ${from} sent an invalid statement`)
    this.#step({ type: 'stated', from, statement })
  }

  #step(event: MembershipEvent): void {
    const { mesh, size, now, onEnd } = this.#options
    // Burying a rank handles what it has sent, which may be a step within a step: its effects come after those of the
    // outer one.
    const isOutermost = this.#effects.length === 0
    this.#effects.push(...this.#machine.step(event, now()))
    if (!isOutermost) return
    for (let effect = this.#effects[0]; effect !== undefined; effect = this.#effects[0]) {
      if (effect.type === 'state') mesh.send(effect.to, encodeStatement(effect.statement, size))
      else if (effect.type === 'view') this.#install(effect.view, effect.gone)
      else onEnd()
      this.#effects.shift()
    }
  }

  #install(view: MembershipView, gone: readonly { readonly rank: number }[]): void {
    for (const { rank } of gone) this.#options.mesh.bury(rank)
    this.#options.onView(view)
  }
}
