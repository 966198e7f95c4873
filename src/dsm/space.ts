import {
  defaultDirectory,
  type EventOptions,
  type LockOptions,
  type Member,
  Membership,
  type SpaceEvent,
} from '../cluster/index.ts'
import { checkMilliseconds, checkOptions, checkSignal, checkText, type OptionNames } from '../native/index.ts'
import type { Profile, ProfilingArea, WaitReading } from '../profiling/index.ts'
import type { Region } from './region.ts'
import { RegionDirectory } from './region-directory.ts'
import type { RegionHost } from './region-host.ts'
import { openRegionOf } from './region-openers.ts'
import { parseRegionRequest, type RegionOptions } from './region-request.ts'

/** Options of `open`. */
export interface OpenOptions {
  /** Stop waiting to join. */
  readonly signal?: AbortSignal
  /** How long another process may hold the space's lock before that is an error. Default 10 s. */
  readonly lockTimeoutMs?: number
  /**
   * A directory of this space's own, where its memory is a file. The space then outlives its processes, until the
   * machine restarts. The directory is made if it is not there. Default: `$AETHER_DIRECTORY/NAME` if that variable is
   * set.
   */
  readonly directory?: string
}

const names: OptionNames<OpenOptions> = { signal: true, lockTimeoutMs: true, directory: true }

/**
 * Join the space `name`: processes of this user on this machine that share memory. The first process to join makes it.
 * Once its last process has closed it, ended or been killed, all of its memory is gone, unless it has a `directory`. No
 * server, no configuration.
 *
 * Every call is a member of its own, also within one process and in Workers.
 *
 * ```ts
 * await using space = await open('shop')
 * await using region = await space.openRegion('hits', { size: '64MiB' })
 * Atomics.add(region.int32, 0, 1)
 * ```
 *
 * @throws ArgumentError for a bad name; UnsupportedError off Linux; AccessError for another user's directory.
 * @throws SpaceError if it is full or cannot be reached; TimeoutError naming the process that holds the lock.
 */
export async function open(name: string, options: OpenOptions = {}): Promise<Space> {
  checkOptions('open', options, names)
  const { signal, lockTimeoutMs, directory = defaultDirectory(name) } = options
  checkSignal('options.signal', signal)
  if (lockTimeoutMs !== undefined) checkMilliseconds('options.lockTimeoutMs', lockTimeoutMs)
  if (directory !== undefined) checkText('options.directory', directory)
  const lock: LockOptions = { signal, ...(lockTimeoutMs === undefined ? {} : { timeoutMs: lockTimeoutMs }) }
  return new Space(await Membership.enter(name, lock, directory))
}

/** One member's view of a space. It does not keep the process alive, except while an `events()` iteration waits. */
export class Space implements AsyncDisposable {
  readonly #host: RegionHost

  /** @internal Made by {@link open}. */
  constructor(membership: Membership) {
    this.#host = { membership, directory: new RegionDirectory(membership) }
  }

  get name(): string {
    return this.#host.membership.name
  }

  /** This member: its slot, its epoch (its number among all members that the space has had) and its process. */
  get self(): Member {
    return this.#host.membership.self
  }

  /** Where the memory is a file, without links; undefined if it goes with the last process. */
  get directory(): string | undefined {
    return this.#host.membership.arena.directory
  }

  get closed(): boolean {
    return this.#host.membership.closed
  }

  /** The membership behind it. @internal for the rooms above. */
  get membership(): Membership {
    return this.#host.membership
  }

  /** This member's counters, which all members can read. */
  get profiling(): ProfilingArea {
    return this.#host.membership.profiling
  }

  /** All members of the space now, this one included, by slot. */
  members(): readonly Member[] {
    return this.#host.membership.members()
  }

  /**
   * Joins, departures and deaths from this call on, in order; a death lists the regions that the member had open. While
   * an event is awaited the process stays alive. Leaving the `for await` unsubscribes. `signal` makes it reject with
   * the signal's reason. The iteration ends with the space.
   */
  events(options?: EventOptions): AsyncIterableIterator<SpaceEvent, undefined> {
    return this.#host.membership.events(options)
  }

  /**
   * Make the region `name`, or open it if it exists; without `size` it must exist. It lives as long as the space:
   * closing it keeps its bytes, `region.delete()` gives them up.
   * @throws RegionError if it exists with other parameters (the message shows both), or does not exist;
   *   MemoryExhaustedError; ArgumentError.
   */
  async openRegion(name: string, options: RegionOptions = {}): Promise<Region> {
    return await openRegionOf(this.#host, parseRegionRequest(name, options, 'hardware'))
  }

  /** Names and sizes, in bytes, of the regions of the space. */
  regions(): readonly { readonly name: string; readonly size: number }[] {
    this.members()
    return this.#host.directory.list().map(({ name, size }) => ({ name, size }))
  }

  /** Publish up to 4 KiB about this member, replacing as a whole what it published before. */
  publish(bytes: Uint8Array): void {
    this.#host.membership.publish(bytes)
  }

  /** A copy of what `member` published; undefined if there is nothing, or the member is gone. */
  card(member: Member): Uint8Array | undefined {
    return this.#host.membership.card(member)
  }

  /**
   * Counters of `member` (by default this one), read from shared memory without disturbing it. Undefined once another
   * member has taken its slot. They cover this thread and, in a group, its agent.
   */
  profile(): Profile
  profile(member: Member): Profile | undefined
  profile(member: Member = this.self): Profile | undefined {
    return this.#host.membership.profile(member)
  }

  /** Counters of all present members, by epoch; `Profile.merge(space.profiles().values())` is the sum. */
  profiles(): ReadonlyMap<number, Profile> {
    const profiles = this.members().map((member) => [member.epoch, this.profile(member)] as const)
    return new Map(profiles.filter((entry): entry is [number, Profile] => entry[1] !== undefined))
  }

  /**
   * What `member`'s threads have waited for, for at least half of `AETHER_WATCHDOG_MS`, the longest wait first.
   * Undefined once another member has taken its slot. Read from shared memory, so blocked threads are included.
   */
  waits(member: Member): readonly WaitReading[] | undefined {
    return this.#host.membership.waits(member)
  }

  /** Leave: close the regions, then the slot. Idempotent. Views that are still in use then show private memory. */
  close(): Promise<void> {
    return this.#host.membership.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}
