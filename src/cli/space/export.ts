import { resolve } from 'node:path'
import { runningSpaces, spaceIn } from '../../cluster/index.ts'
import { open, type Space } from '../../dsm/index.ts'
import { ArgumentError } from '../../native/index.ts'
import { saveSpace } from '../../saving/index.ts'
import { formatBytes } from '../output/units.ts'
import { omittedLines } from './omitted-lines.ts'
import { isPath, operandsOf, type SpaceTask } from './task.ts'

export const exportSpace: SpaceTask = async (operands, { consistent }) => {
  const [where = '', file = ''] = operandsOf('export', operands, ['NAME or DIRECTORY', 'FILE'])
  await using space = await enter(where)
  const result = await saveSpace(space, resolve(file), { consistent })
  const { regions, structures, bytes, omitted } = result
  const line = `${result.file}: ${regions} regions, ${structures} structures, ${formatBytes(bytes)}`
  return { result, lines: [line, ...omittedLines(omitted)] }
}

/** @throws ArgumentError if there is no such space: it is not made. */
async function enter(where: string): Promise<Space> {
  if (isPath(where)) {
    const name = spaceIn(where)
    if (name === undefined) throw new ArgumentError('DIRECTORY', `there is no space in ${where}`)
    return await open(name, { directory: where })
  }
  const running = runningSpaces()
  if (running.includes(where)) {
    const space = await open(where)
    if (space.self.epoch > 1) return space
    // It has just gone, and this is its first member again.
    await space.close()
  }
  const there = running.length === 0 ? 'no space of yours is running' : `these are running: ${running.join(', ')}`
  throw new ArgumentError('NAME', `space '${where}' is not running; ${there}. For one in a directory, pass its path`)
}
