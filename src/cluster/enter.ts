import { join } from 'node:path'
import process from 'node:process'
import { isEnding, UnsupportedError } from '../native/index.ts'
import { PROFILING_AREA_BYTES, WAIT_TABLE_BYTES } from '../profiling/index.ts'
import { runtimeDirectory } from '../runtime/index.ts'
import { Arena } from './arena.ts'
import { Doorbell } from './doorbell.ts'
import type { Entry } from './entry.ts'
import { EpochArchive } from './epoch-archive.ts'
import { SpaceError } from './errors.ts'
import { MEMBERS_MAX, PROFILING_OFFSET, WAITS_OFFSET } from './layout.ts'
import { type MemberRecord, MemberTable } from './member-table.ts'
import { isAlive, ownIdentity, pidNamespace, startTimeOf } from './process-identity.ts'
import { RendezvousFile, type RendezvousRecord } from './rendezvous-file.ts'
import { RestoreWait, type RunningRestore } from './restore-wait.ts'
import { SpaceDirectory } from './space-directory.ts'
import { type LockOptions, SpaceLock } from './space-lock.ts'
import { checkSpaceName } from './space-name.ts'

/**
 * An attempt fails only if another process removed the file after we opened it and before we locked it. So that process
 * made progress.
 */
const ATTEMPTS_MAX = 1000

/** How to enter a space. */
export interface EnterOptions extends LockOptions {
  /** Whether there is a save, which the first member restores. Default: there is none. */
  readonly hasSave?: () => boolean
}

/**
 * Become a member of space `name`, making the space if no process is in it.
 * @throws UnsupportedError off Linux; ArgumentError, AccessError, SpaceError; TimeoutError if the lock stays taken.
 */
export async function enter(name: string, options: EnterOptions = {}, directoryPath?: string): Promise<Entry> {
  checkSpaceName(name)
  checkPlatform()
  const directory = directoryPath === undefined ? undefined : new SpaceDirectory(name, directoryPath)
  const path = rendezvousPath(name)
  const restore = new RestoreWait(name, options)
  for (let attempt = 0; attempt < ATTEMPTS_MAX; ) {
    const entry = await tryEnter(name, path, options, directory)
    if (entry !== undefined && 'self' in entry) return entry
    if (entry === undefined) attempt += 1
    else await restore.pause(entry)
  }
  throw new SpaceError(
    'ERR_AETHER_SPACE_UNREACHABLE',
    name,
    `${path} keeps being removed; stop the program that removes it`,
  )
}

/** Where the processes of this user and pid namespace meet for space `name`. */
export function rendezvousPath(name: string): string {
  return join(runtimeDirectory('spaces'), `${name}-${pidNamespace()}`)
}

function checkPlatform(): void {
  if (process.platform === 'linux') return
  throw new UnsupportedError(`a space needs Linux (memfd, flock and pidfd); this is ${process.platform}`)
}

async function tryEnter(
  name: string,
  path: string,
  options: EnterOptions,
  directory: SpaceDirectory | undefined,
): Promise<Entry | RunningRestore | undefined> {
  const file = RendezvousFile.open(path)
  const lock = new SpaceLock(file.descriptor, name)
  try {
    const place = { directory, hasSave: options.hasSave ?? (() => false) }
    const entry = await lock.run(() => (file.isCurrent() ? admit(name, file, lock, place) : undefined), options)
    if (entry === undefined || !('self' in entry)) file.close()
    return entry
  } catch (error) {
    file.close()
    throw error
  }
}

/** Where a first member finds what was there before. */
interface Place {
  readonly directory: SpaceDirectory | undefined
  hasSave(): boolean
}

/** Under the lock. */
function admit(name: string, file: RendezvousFile, lock: SpaceLock, place: Place): Entry | RunningRestore {
  const { directory } = place
  const found = findArena(name, file)
  const arena = found ?? makeArena(name, file, place)
  let bell: Doorbell | undefined
  try {
    if (directory !== undefined && arena.directory !== directory.path)
      throw directory.error(
        arena.directory === undefined
          ? 'processes are in a space of that name that has no directory; end them first'
          : `its processes have it in ${arena.directory}; pass that directory`,
      )
    if (found !== undefined && found.restoring !== 0) return leaveRestoring(found)
    bell = new Doorbell()
    const table = new MemberTable(arena.control)
    const archive = new EpochArchive(arena.control)
    settleMembers(table, found !== undefined)
    const self = claimSlot(name, arena, table, archive, bell)
    file.write(self.slot, recordOf(self.processId, arena))
    table.admit(self.slot, self.epoch)
    return { name, file, lock, arena, table, archive, bell, self }
  } catch (error) {
    bell?.close()
    arena.close()
    throw error
  }
}

/** The arena that some live process holds; undefined if there is none, so that a new one may be created. */
function findArena(name: string, file: RendezvousFile): Arena | undefined {
  for (const record of file.records()) {
    if (startTimeOf(record.processId) !== record.startTime) continue
    const arena = adopt(name, record)
    if (arena !== undefined) return arena
  }
  return undefined
}

function adopt(name: string, record: RendezvousRecord): Arena | undefined {
  const { processId } = record
  try {
    const arena = Arena.adopt(processId, record.descriptor, record)
    if (arena !== 'version') return arena === 'other' ? undefined : arena
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code
    // The process closed the space or is just ending. If the arena lives, another member has it.
    if (code === 'ENOENT' || code === 'ESRCH' || isEnding(processId)) return undefined
    const why = `process ${processId} is in it, but its memory cannot be reached: ${(cause as Error).message}`
    throw new SpaceError('ERR_AETHER_SPACE_UNREACHABLE', name, `space '${name}' cannot be entered: ${why}`, { cause })
  }
  const how = 'use the same version everywhere, or end the other processes first'
  throw new SpaceError(
    'ERR_AETHER_SPACE_VERSION',
    name,
    `space '${name}' was made by another version of Aether (process ${processId}); ${how}`,
  )
}

function makeArena(name: string, file: RendezvousFile, { directory, hasSave }: Place): Arena {
  file.clear()
  return directory === undefined ? Arena.create(name, hasSave()) : Arena.inDirectory(directory, hasSave)
}

/** Another member restores the space; it is entered when that is done. */
function leaveRestoring(arena: Arena): RunningRestore {
  const [restorer] = new MemberTable(arena.control).present()
  const running = { processId: restorer?.processId, progress: arena.restoring }
  arena.close()
  return running
}

/**
 * Settle what killed members left: unfinished claims, and slots of processes that are gone. Under the lock.
 * `mayLive`: false where none of them lives for certain. Their process numbers may be others' by now.
 */
export function settleMembers(table: MemberTable, mayLive: boolean = true): void {
  table.undoClaims()
  for (const member of table.present()) if (!mayLive || !isAlive(member)) table.end(member.slot, member.epoch, 'died')
}

function claimSlot(
  name: string,
  arena: Arena,
  table: MemberTable,
  archive: EpochArchive,
  bell: Doorbell,
): MemberRecord {
  const slot = table.freeSlot()
  if (slot === undefined) {
    throw new SpaceError(
      'ERR_AETHER_SPACE_FULL',
      name,
      `space '${name}' has ${MEMBERS_MAX} members, the maximum; close one first`,
    )
  }
  const before = table.glance(slot)
  if (before.fate !== undefined) {
    archive.write(before.epoch, { fate: before.fate, slot, processId: table.processIdOf(slot) })
  }
  const epoch = Math.max(arena.lastEpoch, table.highestEpoch()) + 1
  const record = { ...ownIdentity(), slot, epoch, doorbell: bell.writeEnd, doorbellInode: bell.inode }
  table.claim(record)
  arena.announceEpoch(epoch)
  arena.clear(PROFILING_OFFSET + slot * PROFILING_AREA_BYTES, PROFILING_AREA_BYTES)
  arena.clear(WAITS_OFFSET + slot * WAIT_TABLE_BYTES, WAIT_TABLE_BYTES)
  return record
}

function recordOf(processId: number, arena: Arena): RendezvousRecord {
  const { descriptor, identity } = arena
  return { processId, startTime: startTimeOf(processId) ?? 0, descriptor, ...identity }
}
