import { native, type Watcher } from '../native/index.ts'
import type { MemberRecord, MemberTable } from './member-table.ts'
import type { MemberChange, MemberTracker } from './member-tracker.ts'
import type { Presence } from './presence.ts'

/** The watcher's token of our own doorbell. Epochs, which start at 1, are the tokens of others. */
const BELL = 0
/**
 * How often to look without being woken. A member may be killed after it joined or left and before it rang, and the end
 * of a Worker rings no bell.
 */
const CHECK_MS = 1000

/** What a {@link PeerWatch} reports to. */
export interface PeerWatchListener {
  /** Someone rang this member's doorbell. */
  rang(): void
  /** Members have come or gone. It is also called now and then when nothing was noticed. */
  changed(): void
  /** A member has come or gone. */
  saw(change: MemberChange): void
  /** This process was the first to see that a member died, so it must clean up. */
  sawDeath(): void
}

/**
 * Watches one member's doorbell, and the ends of all other members by a descriptor each. Lives on the event loop of the
 * thread that opened the space, which it keeps running only between `ref()` and `unref()`.
 */
export class PeerWatch {
  readonly #table: MemberTable
  readonly #tracker: MemberTracker
  readonly #presence: Presence
  readonly #listener: PeerWatchListener
  readonly #watcher: Watcher
  /** The others' records by epoch, and whether a descriptor reports the end of their process. */
  readonly #peers = new Map<number, { readonly record: MemberRecord; readonly watched: boolean }>()
  readonly #check: NodeJS.Timeout
  #references = 0
  #closed = false

  constructor(table: MemberTable, tracker: MemberTracker, presence: Presence, listener: PeerWatchListener) {
    this.#table = table
    this.#tracker = tracker
    this.#presence = presence
    this.#listener = listener
    this.#watcher = native.createWatcher((token) => this.#fired(token))
    try {
      this.#watcher.add(BELL, presence.bell)
    } catch (error) {
      this.#watcher.close()
      throw error
    }
    this.#check = setInterval(() => this.#lookUnasked(), CHECK_MS).unref()
    for (const record of table.present()) this.#watch(record)
  }

  /** Keep the event loop running from now on. Calls are counted. */
  ref(): void {
    this.#references += 1
    if (this.#references === 1) this.#watcher.ref()
  }

  unref(): void {
    this.#references -= 1
    if (this.#references === 0) this.#watcher.unref()
  }

  close(): void {
    this.#closed = true
    clearInterval(this.#check)
    this.#watcher.close()
    this.#peers.clear()
  }

  #fired(token: number): void {
    if (this.#closed) return
    if (token === BELL) {
      this.#presence.drain()
      this.#watcher.rearm(BELL)
      this.#listener.rang()
      // Most rings are for those who wait for something else: they go first.
      setImmediate(() => this.#lookForChanges()).unref()
      return
    }
    this.#declareDead(token)
    this.#look()
  }

  #lookForChanges(): void {
    if (this.#closed) return
    const changes = this.#tracker.advance()
    if (changes.length > 0) this.#report(changes)
  }

  #look(): void {
    this.#report(this.#tracker.advance())
  }

  #report(changes: readonly MemberChange[]): void {
    for (const change of changes) {
      const { epoch, slot } = change.member
      this.#listener.saw(change)
      if (change.type === 'joined') {
        const record = this.#table.read(slot)
        if (record?.epoch === epoch) this.#watch(record)
      } else {
        this.#unwatch(epoch)
      }
    }
    this.#listener.changed()
  }

  #watch(record: MemberRecord): void {
    if (this.#peers.has(record.epoch)) return
    const watched = this.#watchLife(record)
    this.#peers.set(record.epoch, { record, watched })
    // Only now is it certain that a pidfd belongs to the process that joined, and not to a later one with its number.
    if (!this.#presence.isAlive(record)) setImmediate(() => this.#fired(record.epoch)).unref()
  }

  /** False if there is no descriptor: the member is gone, is of this process, or we have no descriptor left. */
  #watchLife(record: MemberRecord): boolean {
    let descriptor: number | undefined
    try {
      descriptor = this.#presence.openLife(record)
      if (descriptor !== undefined) this.#watcher.add(record.epoch, descriptor)
      return descriptor !== undefined
    } catch {
      return false
    } finally {
      // The watcher has a duplicate.
      if (descriptor !== undefined) native.closeDescriptor(descriptor)
    }
  }

  #unwatch(epoch: number): void {
    const watched = this.#peers.get(epoch)?.watched === true
    this.#peers.delete(epoch)
    if (watched) this.#watcher.remove(epoch)
  }

  #declareDead(epoch: number): void {
    const record = this.#peers.get(epoch)?.record
    if (record !== undefined && this.#table.end(record.slot, epoch, 'died')) this.#listener.sawDeath()
  }

  #lookUnasked(): void {
    this.#look()
    this.#checkUnwatched()
  }

  /** Members whose end no descriptor reports, and Workers: a pidfd reports the end of the whole process. */
  #checkUnwatched(): void {
    const unwatched = [...this.#peers.values()].filter(
      ({ record, watched }) => !watched || record.threadId !== record.processId,
    )
    for (const { record } of unwatched) if (!this.#presence.isAlive(record)) this.#fired(record.epoch)
  }
}
