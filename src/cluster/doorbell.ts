import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { native } from '../native/index.ts'
import { reopen } from './arena.ts'

/**
 * A pipe by which other members wake this one. They open its write end through /proc. A reader learns only that it
 * rang. Both ends are descriptors of `node:fs`, so that a Worker that is terminated does not leak them.
 */
export class Doorbell {
  readonly readEnd: number
  readonly writeEnd: number
  /** Inode of the pipe, for {@link openDoorbell}. */
  readonly inode: number
  #open = true

  constructor() {
    const [readEnd, writeEnd] = native.createPipe()
    this.readEnd = reopenOr(readEnd, constants.O_RDONLY | constants.O_NONBLOCK, () => native.closeDescriptor(writeEnd))
    this.writeEnd = reopenOr(writeEnd, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY, () =>
      closeSync(this.readEnd),
    )
    this.inode = fstatSync(this.readEnd).ino
  }

  /** Forget that it rang. */
  drain(): void {
    native.drainPipe(this.readEnd)
  }

  close(): void {
    if (!this.#open) return
    this.#open = false
    closeSync(this.readEnd)
    closeSync(this.writeEnd)
  }
}

function reopenOr(descriptor: number, flags: number, failed: () => void): number {
  try {
    return reopen(descriptor, flags)
  } catch (error) {
    failed()
    throw error
  }
}

/**
 * A descriptor that rings another member's doorbell; the caller closes it. Undefined if the member has ended, or its
 * descriptor is another file by now: its end is noticed elsewhere.
 */
export function openDoorbell(target: {
  readonly processId: number
  readonly doorbell: number
  readonly doorbellInode: number
}): number | undefined {
  let descriptor: number
  try {
    descriptor = openSync(
      `/proc/${target.processId}/fd/${target.doorbell}`,
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    )
  } catch {
    // It disappeared after we looked into the table.
    return undefined
  }
  const status = fstatSync(descriptor)
  if (status.isFIFO() && status.ino === target.doorbellInode) return descriptor
  closeSync(descriptor)
  return undefined
}
