import { closeSync, constants, fstatSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const NAME = /^aether\.member-(\d+)-\d+$/

/**
 * In the directory of a space each member has a FIFO, by which others see whether it lives, and wake it:
 *
 * ```
 *   aether.member-<inode of the arena>-<epoch>
 * ```
 *
 * Only the member opens it for reading. The kernel closes that end when the member ends, however it ends, and not while
 * it is stopped. To open a FIFO for writing without waiting is ENXIO if no process has it open for reading (fifo(7)). A
 * descriptor for writing has EPOLLERR once the last reader has closed it (epoll_ctl(2)). None of this needs a process
 * number, so the processes may be in different pid namespaces.
 */
export function fifoPath(directory: string, arenaInode: number, epoch: number): string {
  return join(directory, `aether.member-${arenaInode}-${epoch}`)
}

/**
 * Open a member's FIFO for writing, which leaves the member alone. `dead`: the member has ended. `unknown`: this
 * process cannot find out, for want of a descriptor for instance.
 */
export function openFifo(path: string): number | 'dead' | 'absent' | 'unknown' {
  const { O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = constants
  try {
    const descriptor = openSync(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW)
    if (fstatSync(descriptor).isFIFO()) return descriptor
    closeSync(descriptor)
    return 'dead'
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENXIO') return 'dead'
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'absent' : 'unknown'
  }
}

/** Whether a FIFO's member lives, if nothing else is known of it. */
export function isFifoHeld(path: string): boolean {
  const found = openFifo(path)
  if (typeof found === 'number') closeSync(found)
  return typeof found === 'number' || found === 'unknown'
}

/** Whether a directory has a member that lives. */
export function hasMembers(directory: string): boolean {
  return fifosIn(directory).some((name) => isFifoHeld(join(directory, name)))
}

/** Remove the FIFOs of members that have ended. Returns the inodes of the arenas whose members live. Under the lock. */
export function sweepFifos(directory: string): ReadonlySet<number> {
  const living = new Set<number>()
  for (const name of fifosIn(directory)) {
    const path = join(directory, name)
    if (isFifoHeld(path)) living.add(Number(NAME.exec(name)?.[1]))
    else rmSync(path, { force: true })
  }
  return living
}

function fifosIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).filter((name) => NAME.test(name))
  } catch {
    return []
  }
}
