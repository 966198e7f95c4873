import { closeSync, constants, existsSync, openSync, rmSync } from 'node:fs'
import { native } from '../native/index.ts'
import { fifoPath, openFifo, sweepFifos } from './member-fifo.ts'
import type { MemberRecord } from './member-table.ts'
import type { Presence } from './presence.ts'
import { forgetDirectory, rememberDirectory } from './running-directories.ts'
import type { SpaceDirectory } from './space-directory.ts'

/** The presence of a member of a space in a directory: its FIFO there (member-fifo.ts). */
export class FifoPresence implements Presence {
  readonly #directory: SpaceDirectory
  readonly #arenaInode: number
  #path = ''
  #descriptor: number | undefined

  constructor(directory: SpaceDirectory, arenaInode: number) {
    this.#directory = directory
    this.#arenaInode = arenaInode
  }

  get bell(): number {
    return this.#descriptor ?? -1
  }

  appear(_slot: number, epoch: number): Pick<MemberRecord, 'doorbell' | 'doorbellInode'> {
    this.#path = this.#pathOf(epoch)
    this.#make()
    // Open for writing as well: without a writer it would be readable, at its end, for ever.
    this.#descriptor = openSync(this.#path, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    rememberDirectory(this.#directory)
    return { doorbell: 0, doorbellInode: 0 }
  }

  drain(): void {
    native.drainPipe(this.bell)
  }

  openBell(member: MemberRecord): number | undefined {
    return this.openLife(member)
  }

  /**
   * A member without a FIFO has ended, and was cleared up. Unless our own is missing, too: then the directory was
   * removed under us, and nothing is known. A watcher that has the FIFO open still sees the end.
   */
  isAlive({ epoch }: MemberRecord): boolean {
    const found = openFifo(this.#pathOf(epoch))
    if (typeof found === 'number') closeSync(found)
    if (found === 'absent') return this.#descriptor !== undefined && !existsSync(this.#path)
    return found !== 'dead'
  }

  openLife({ epoch }: MemberRecord): number | undefined {
    const found = openFifo(this.#pathOf(epoch))
    return typeof found === 'number' ? found : undefined
  }

  withdraw(_slot: number, isLast: boolean): void {
    rmSync(this.#path, { force: true })
    if (!isLast) return
    sweepFifos(this.#directory.path)
    forgetDirectory(this.#directory)
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = undefined
  }

  #pathOf(epoch: number): string {
    return fifoPath(this.#directory.path, this.#arenaInode, epoch)
  }

  #make(): void {
    try {
      native.createFifo(this.#path)
    } catch (cause) {
      const why = (cause as Error).message.split(';')[0]
      throw this.#directory.error(
        `no FIFO can be made in it (${why}); free some space, or use a directory on tmpfs, such as /dev/shm/${this.#directory.space}`,
        cause,
      )
    }
  }
}
