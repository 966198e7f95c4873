import { existsSync, rmdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ARENA_FILE, SAVE_FILE, syncDirectory, TORN_FILE, UnusedDirectory } from '../../cluster/index.ts'
import { operandsOf, type SpaceTask } from './task.ts'

/** The arena goes last: as long as it is there, and locked, no process opens the space. */
const FILES = [`${SAVE_FILE}.new`, SAVE_FILE, TORN_FILE, ARENA_FILE]

export const dropSpace: SpaceTask = async (operands) => {
  const [path = ''] = operandsOf('drop', operands, ['DIRECTORY'])
  using unused = UnusedDirectory.hold(path)
  const removed = FILES.map((name) => join(unused.directory.path, name)).filter((file) => existsSync(file))
  for (const file of removed) unlinkSync(file)
  syncDirectory(unused.directory.path)
  const isEmpty = tryRemove(unused.directory.path)
  const lines = removed.map((file) => `removed ${file}`)
  const none = `there is no space in ${path}`
  return { result: { removed, directoryRemoved: isEmpty }, lines: removed.length === 0 ? [none] : lines }
}

/** Other files in it stay. */
function tryRemove(path: string): boolean {
  try {
    rmdirSync(path)
    return true
  } catch {
    return false
  }
}
