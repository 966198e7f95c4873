import type { Structures } from '../../structures/index.ts'

/**
 * Names one server in one namespace, as text: the slot and epoch of its member of the space, and an identity that no
 * other has.
 */
export function addressOf({ slot, epoch }: { slot: number; epoch: number }, identity: string): string {
  return `${slot}.${epoch}.${identity}`
}

export function slotOf(address: string): number {
  return Number.parseInt(address, 10)
}

/** Whether the process of that address is still a member of the space, as far as is known. */
export function isPresent({ peers }: Structures, address: string): boolean {
  const [slot, epoch] = address.split('.').map(Number)
  return peers.isPresent(slot!, epoch!)
}
