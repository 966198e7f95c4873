import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { native } from '../native/index.ts'
import { pidNamespace } from '../runtime/index.ts'
import { rendezvousPath } from './enter.ts'
import { startTimeOf } from './process-identity.ts'
import { RendezvousFile } from './rendezvous-file.ts'
import { forgetEndedDirectories } from './running-directories.ts'

/** How many files one call examines: this is housekeeping beside something that a user waits for. */
const FILES_MAX = 256

/**
 * Remove the rendezvous files that are left if all members were killed (a few hundred bytes each; their memory is gone
 * already). Only files of this pid namespace: process numbers in others mean other processes.
 */
export function reclaimSpaces(): void {
  const directory = dirname(rendezvousPath('any'))
  const suffix = `-${pidNamespace()}`
  const names = readdirSync(directory).filter((name) => name.endsWith(suffix))
  for (const name of names.slice(0, FILES_MAX)) reclaimFile(join(directory, name))
  forgetEndedDirectories(FILES_MAX)
}

/** The same for one space. */
export function reclaimSpace(name: string): void {
  reclaimFile(rendezvousPath(name))
}

function reclaimFile(path: string): void {
  const file = RendezvousFile.openExisting(path)
  if (file === undefined) return
  try {
    if (!native.lockFile(file.descriptor, false)) return
    const inUse = file.records().some((record) => startTimeOf(record.processId) === record.startTime)
    if (!inUse) file.remove()
  } finally {
    file.close()
  }
}
