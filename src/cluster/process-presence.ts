import process from 'node:process'
import { native } from '../native/index.ts'
import type { Arena } from './arena.ts'
import { Doorbell, openDoorbell } from './doorbell.ts'
import type { MemberRecord } from './member-table.ts'
import type { Presence } from './presence.ts'
import { isAlive, startTimeOf } from './process-identity.ts'
import type { RendezvousFile } from './rendezvous-file.ts'

/**
 * The presence of a member whose arena is memory alone: a line in the rendezvous file, a pipe for a doorbell, and its
 * process. Others reach them through /proc, so all are in one pid namespace.
 */
export class ProcessPresence implements Presence {
  readonly #file: RendezvousFile
  readonly #arena: Arena
  readonly #doorbell = new Doorbell()

  constructor(file: RendezvousFile, arena: Arena) {
    this.#file = file
    this.#arena = arena
  }

  get bell(): number {
    return this.#doorbell.readEnd
  }

  appear(slot: number): Pick<MemberRecord, 'doorbell' | 'doorbellInode'> {
    const { descriptor, identity } = this.#arena
    const processId = process.pid
    this.#file.write(slot, { processId, startTime: startTimeOf(processId) ?? 0, descriptor, ...identity })
    return { doorbell: this.#doorbell.writeEnd, doorbellInode: this.#doorbell.inode }
  }

  drain(): void {
    this.#doorbell.drain()
  }

  openBell(member: MemberRecord): number | undefined {
    return openDoorbell(member)
  }

  isAlive(member: MemberRecord): boolean {
    return isAlive(member)
  }

  /** A pidfd. None for members in this process: it lives as long as we do. */
  openLife({ processId }: MemberRecord): number | undefined {
    return processId === process.pid ? undefined : native.openProcess(processId)
  }

  withdraw(slot: number, isLast: boolean): void {
    this.#file.erase(slot)
    if (isLast) this.#file.remove()
  }

  close(): void {
    this.#doorbell.close()
  }
}
