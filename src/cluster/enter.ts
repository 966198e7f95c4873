import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { isEnding, UnsupportedError } from '../native/index.ts'
import { PROFILING_AREA_BYTES, WAIT_TABLE_BYTES } from '../profiling/index.ts'
import { pidNamespace, runtimeDirectory } from '../runtime/index.ts'
import { Arena } from './arena.ts'
import type { Entry } from './entry.ts'
import { EpochArchive } from './epoch-archive.ts'
import { SpaceError } from './errors.ts'
import { FifoPresence } from './fifo-presence.ts'
import { MEMBERS_MAX, PROFILING_OFFSET, WAITS_OFFSET } from './layout.ts'
import { LockFile } from './lock-file.ts'
import { sweepFifos } from './member-fifo.ts'
import { type MemberRecord, MemberTable, memberOf } from './member-table.ts'
import type { Presence } from './presence.ts'
import { ownIdentity, ownNamespace, startTimeOf } from './process-identity.ts'
import { ProcessPresence } from './process-presence.ts'
import { liveRecords, RendezvousFile, type RendezvousRecord } from './rendezvous-file.ts'
import { RestoreWait, type RunningRestore } from './restore-wait.ts'
import { runningDirectory } from './running-directories.ts'
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
  const wanted = directoryPath ?? runningDirectory(name)
  const directory = wanted === undefined ? undefined : new SpaceDirectory(name, wanted)
  if (directory !== undefined) {
    checkElsewhere(directory)
    Arena.checkVersion(directory)
  }
  const path = directory?.file ?? rendezvousPath(name)
  const hasSave = options.hasSave ?? (() => false)
  const restore = new RestoreWait(name, options)
  for (let attempt = 0; attempt < ATTEMPTS_MAX; ) {
    const entry = await (directory === undefined
      ? tryEnter(new RendezvousFile(path), { name, options, admit: (file, lock) => admit(name, file, lock, hasSave) })
      : tryEnter(new LockFile(path), { name, options, admit: (file, lock) => admitIn(directory, file, lock, hasSave) }))
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

/**
 * Processes that can be seen from here may have a space of that name elsewhere. A space in `directory` would then be a
 * second one beside it.
 * @throws SpaceError
 */
function checkElsewhere(directory: SpaceDirectory): void {
  const running = runningDirectory(directory.space)
  if (running !== undefined && running !== directory.path && realpathSync(running) !== directory.path)
    throw directory.error(`its processes have it in ${running}; pass that directory`)
  if (isRunning(directory.space))
    throw directory.error('processes are in a space of that name that has no directory; end them first')
}

/** Whether a space without a directory has a process that lives. Where there is no runtime directory, none has. */
function isRunning(name: string): boolean {
  try {
    return liveRecords(rendezvousPath(name)).length > 0
  } catch {
    return false
  }
}

/** How a space is entered, once its file is locked. */
interface Door<File extends LockFile> {
  readonly name: string
  readonly options: LockOptions
  /** Undefined: begin again. */
  readonly admit: (file: File, lock: SpaceLock) => Entry | RunningRestore | undefined
}

async function tryEnter<File extends LockFile>(
  file: File,
  { name, options, admit }: Door<File>,
): Promise<Entry | RunningRestore | undefined> {
  const lock = new SpaceLock(file.descriptor, name)
  try {
    const entry = await lock.run(() => (file.isCurrent() ? admit(file, lock) : undefined), options)
    if (entry === undefined || !('self' in entry)) file.close()
    return entry
  } catch (error) {
    file.close()
    throw error
  }
}

/** Under the lock. */
function admit(name: string, file: RendezvousFile, lock: SpaceLock, hasSave: () => boolean): Entry | RunningRestore {
  const found = findArena(name, file)
  if (found !== undefined && found.restoring !== 0) return leaveRestoring(found)
  const arena = found ?? makeArena(name, file, hasSave())
  return become({ name, file, lock, arena }, () => new ProcessPresence(file, arena))
}

/** The same where the arena is a file, which is the lock, too. */
function admitIn(
  directory: SpaceDirectory,
  file: LockFile,
  lock: SpaceLock,
  hasSave: () => boolean,
): Entry | RunningRestore | undefined {
  const inUse = sweepFifos(directory.path)
  const isInUse = inUse.has(file.inode)
  if (inUse.size > (isInUse ? 1 : 0))
    throw directory.error(`processes have another ${file.path}, which was removed; end them first`)
  const arena = Arena.inDirectory(directory, { isInUse, hasSave })
  if (arena === undefined) return undefined
  if (isInUse && arena.restoring !== 0) return leaveRestoring(arena)
  return become({ name: directory.space, file, lock, arena }, () => new FifoPresence(directory, file.inode))
}

/** Another member restores the space; it is entered when that is done. */
function leaveRestoring(arena: Arena): RunningRestore {
  const [restorer] = new MemberTable(arena.control).present()
  const running = { restorer: restorer && memberOf(restorer), progress: arena.restoring }
  arena.close()
  return running
}

function become(held: Pick<Entry, 'name' | 'file' | 'lock' | 'arena'>, take: () => Presence): Entry {
  const { name, arena } = held
  let presence: Presence | undefined
  try {
    presence = take()
    const table = new MemberTable(arena.control)
    const archive = new EpochArchive(arena.control)
    settleMembers(table, presence)
    const self = claimSlot({ name, arena, table, archive, presence })
    table.admit(self.slot, self.epoch)
    return { ...held, table, archive, presence, self }
  } catch (error) {
    presence?.close()
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

function makeArena(name: string, file: RendezvousFile, hasSave: boolean): Arena {
  file.clear()
  return Arena.create(name, hasSave)
}

/** Settle what killed members left: unfinished claims, and slots of processes that are gone. Under the lock. */
export function settleMembers(table: MemberTable, presence: Presence): void {
  table.undoClaims()
  for (const member of table.present()) if (!presence.isAlive(member)) table.end(member.slot, member.epoch, 'died')
}

function claimSlot({ name, arena, table, archive, presence }: Omit<Entry, 'file' | 'lock' | 'self'>): MemberRecord {
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
    archive.write(before.epoch, { fate: before.fate, slot, ...table.processOf(slot) })
  }
  const epoch = Math.max(arena.lastEpoch, table.highestEpoch()) + 1
  const record = { ...ownIdentity(), namespace: ownNamespace(), slot, epoch, ...presence.appear(slot, epoch) }
  table.claim(record)
  arena.announceEpoch(epoch)
  arena.clear(PROFILING_OFFSET + slot * PROFILING_AREA_BYTES, PROFILING_AREA_BYTES)
  arena.clear(WAITS_OFFSET + slot * WAIT_TABLE_BYTES, WAIT_TABLE_BYTES)
  return record
}
