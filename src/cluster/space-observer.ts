import { constants, openSync, readdirSync, readlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { native } from '../native/index.ts'
import { PROFILING_AREA_BYTES, Profile } from '../profiling/index.ts'
import { pidNamespace } from '../runtime/index.ts'
import { Arena, type ArenaMismatch } from './arena.ts'
import { Card } from './card.ts'
import { rendezvousPath } from './enter.ts'
import { EpochArchive } from './epoch-archive.ts'
import { SpaceError } from './errors.ts'
import { readGroupCard } from './group/group-card.ts'
import { MEMBERS_MAX, PROFILING_OFFSET } from './layout.ts'
import { fifoPath, isFifoHeld } from './member-fifo.ts'
import { type Fate, type Member, type MemberRecord, MemberTable, memberOf } from './member-table.ts'
import { isAlive } from './process-identity.ts'
import { liveRecords, type RendezvousRecord } from './rendezvous-file.ts'
import { runningDirectory, runningDirectoryNames } from './running-directories.ts'
import { ARENA_FILE } from './space-directory.ts'
import { checkSpaceName } from './space-name.ts'
import { askToShow, shownBy } from './watching.ts'

/** A member as an observer outside the space sees it. */
export interface ObservedMember extends Member {
  /** Of its thread, in clock ticks since boot. */
  readonly startTime: number
  /** Its rank and the group's size, if it is in a group. */
  readonly group: { readonly rank: number; readonly size: number } | undefined
}

/** How a former member ended. */
export interface EndedMember {
  readonly epoch: number
  readonly slot: number
  readonly processId: number
  readonly fate: Fate
}

/**
 * A running space, seen by an observer that is not a member: it reads shared memory, takes no lock, and wakes no one.
 */
export class SpaceObserver {
  readonly name: string
  readonly arena: Arena
  readonly #table: MemberTable
  readonly #archive: EpochArchive

  private constructor(name: string, arena: Arena) {
    this.name = name
    this.arena = arena
    this.#table = new MemberTable(arena.control)
    this.#archive = new EpochArchive(arena.control)
  }

  /** @throws SpaceError if no process is in the space; ArgumentError for a name that no space can have. */
  static attach(name: string): SpaceObserver {
    checkSpaceName(name)
    for (const record of liveRecords(rendezvousPath(name))) {
      const arena = adopt(name, record)
      if (arena !== undefined) return new SpaceObserver(name, arena)
    }
    const directory = runningDirectory(name)
    const arena = directory === undefined ? undefined : observe(name, directory)
    if (arena !== undefined) return new SpaceObserver(name, arena)
    throw new SpaceError(
      'ERR_AETHER_SPACE_UNREACHABLE',
      name,
      `no process of yours is in a space '${name}' on this machine`,
    )
  }

  /** Epoch of the member that joined last. */
  get epoch(): number {
    return this.arena.lastEpoch
  }

  /**
   * The running members, by slot. A member killed a moment ago is left out even if no other member has recorded its
   * death.
   */
  members(): readonly ObservedMember[] {
    return this.#table
      .present()
      .filter((record) => this.#isAlive(record))
      .map((record) => ({ ...memberOf(record), startTime: record.startTime, group: this.#groupOf(record.slot) }))
  }

  /** How the members ended whose epochs are above `after`, as far as that is still known. */
  endedSince(after: number): readonly EndedMember[] {
    const ended: EndedMember[] = []
    for (let slot = 0; slot < MEMBERS_MAX; slot += 1) {
      const { epoch, fate } = this.#table.glance(slot)
      if (fate !== undefined && epoch > after)
        ended.push({ epoch, slot, processId: this.#table.processOf(slot).processId, fate })
    }
    const known = new Set(ended.map(({ epoch }) => epoch))
    for (let epoch = Math.max(1, after + 1, this.epoch - MEMBERS_MAX); epoch <= this.epoch; epoch += 1) {
      const kept = known.has(epoch) ? undefined : this.#archive.read(epoch)
      if (kept !== undefined) ended.push({ epoch, slot: kept.slot, processId: kept.processId, fate: kept.fate })
    }
    return ended.sort((a, b) => a.epoch - b.epoch)
  }

  /** A snapshot of the member's counters. */
  profile({ slot }: Pick<ObservedMember, 'slot'>): Profile {
    return Profile.read(this.arena.control, PROFILING_OFFSET + slot * PROFILING_AREA_BYTES)
  }

  /** What the member of a slot has open, as bits. */
  held(slot: number): Int32Array {
    return this.#table.held(slot)
  }

  /** Ask the members to write journals for `ms` milliseconds from now on; a call renews it. */
  askToShow(ms: number): void {
    askToShow(this.arena.control, native.monotonicNs() + ms * 1e6)
  }

  /** The member's journal, opened, to be closed by the caller; undefined if it keeps none now. */
  openJournal({ slot, processId, foreign }: ObservedMember): number | undefined {
    const shown = shownBy(this.arena.control, slot)
    if (shown === undefined || foreign === true) return undefined
    try {
      const path = `/proc/${processId}/fd/${shown.descriptor}`
      if (!readlinkSync(path).startsWith('/memfd:aether-')) return undefined
      const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
      if (native.describeMemory(descriptor).inode === shown.inode) return descriptor
      native.closeDescriptor(descriptor)
    } catch {
      // It ended, or stopped showing, between the two looks.
    }
    return undefined
  }

  close(): void {
    this.arena.close()
  }

  #isAlive(record: MemberRecord): boolean {
    const { directory, identity } = this.arena
    return directory === undefined ? isAlive(record) : isFifoHeld(fifoPath(directory, identity.inode, record.epoch))
  }

  #groupOf(slot: number): ObservedMember['group'] {
    const bytes = new Card(this.arena.control, slot, this.#table.cardSequence(slot)).read()
    return bytes && readGroupCard(bytes)
  }
}

/** Names of this user's spaces that have a member now, in alphabetical order. */
export function runningSpaces(): readonly string[] {
  const directory = dirname(rendezvousPath('any'))
  const suffix = `-${pidNamespace()}`
  const names = readdirSync(directory)
    .filter((name) => name.endsWith(suffix))
    .map((name) => name.slice(0, -suffix.length))
    .filter((name) => liveRecords(rendezvousPath(name)).length > 0)
  return [...new Set([...names, ...runningDirectoryNames()])].sort()
}

function adopt(name: string, record: RendezvousRecord): Arena | undefined {
  return wanted(name, `process ${record.processId}`, () => Arena.adopt(record.processId, record.descriptor, record))
}

function observe(name: string, directory: string): Arena | undefined {
  const file = join(directory, ARENA_FILE)
  return wanted(name, file, () => Arena.observe({ file, path: directory }))
}

function wanted(name: string, where: string, open: () => Arena | ArenaMismatch): Arena | undefined {
  let arena: Arena | ArenaMismatch
  try {
    arena = open()
  } catch {
    return undefined
  }
  if (arena === 'other') return undefined
  if (arena !== 'version') return arena
  const message = `space '${name}' was made by another version of Aether (${where}); watch it with that version`
  throw new SpaceError('ERR_AETHER_SPACE_VERSION', name, message)
}
