import type { Member, Membership } from '../cluster/index.ts'
import type { Peers } from './peers.ts'

/** The members of a space as the structures see them. */
export class MemberPeers implements Peers {
  readonly slot: number
  readonly epoch: number
  readonly clockShiftMs: number
  readonly #membership: Membership

  constructor(membership: Membership) {
    this.#membership = membership
    this.slot = membership.self.slot
    this.epoch = membership.self.epoch
    this.clockShiftMs = membership.arena.clockShiftMs
  }

  isPresent(slot: number, epoch: number): boolean {
    return this.#membership.isPresent({ slot, epoch, processId: 0 })
  }

  isAlive(slot: number, epoch: number): boolean {
    return this.#membership.isAlive(slot, epoch)
  }

  memberOf(slot: number, epoch: number): Member | undefined {
    return this.#membership.presentMembers().find((member) => member.slot === slot && member.epoch === epoch)
  }

  ring(slot: number): void {
    this.#membership.ring(slot)
  }

  onRing(listener: () => void): () => void {
    return this.#membership.onRing(listener)
  }

  onChange(listener: () => void): () => void {
    return this.#membership.onChange(listener)
  }
}
