import { resolve } from 'node:path'
import { runningSpaces } from '../../cluster/index.ts'
import { importSave } from '../../saving/index.ts'
import { UsageError } from '../usage-error.ts'
import { omittedLines } from './omitted-lines.ts'
import type { SpaceTask } from './task.ts'

export const importSpace: SpaceTask = async (operands, { directory, add }) => {
  const [file, name] = operands
  if (file === undefined || operands.length > 2)
    throw new UsageError("'aether space import' takes FILE, and NAME or --directory DIRECTORY", 'space')
  if (directory === undefined && (name === undefined || !runningSpaces().includes(name))) {
    const why = name === undefined ? 'name a running space' : `space '${name}' is not running, and would end at once`
    throw new UsageError(`${why}; or pass --directory DIRECTORY to make one that stays`, 'space')
  }
  const result = await importSave(resolve(file), { name, directory, adds: add })
  const { space, regions, structures, savedAt } = result
  const what = `${regions} regions, ${structures} structures of ${savedAt.toISOString()}`
  return { result, lines: [`space '${space}': ${what}`, ...omittedLines(result.omitted)] }
}
