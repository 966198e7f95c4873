import { checkStore } from '../../adapters/index.ts'
import { UnusedDirectory } from '../../cluster/index.ts'
import { checkDirectory, giveBackLost, importSave, saveOf, verifySave } from '../../saving/index.ts'
import { formatBytes } from '../output/units.ts'
import { linesOf } from './check.ts'
import { omittedLines } from './omitted-lines.ts'
import { operandsOf, type SpaceTask } from './task.ts'

export const repairSpace: SpaceTask = async (operands) => {
  const [directory = ''] = operandsOf('repair', operands, ['DIRECTORY'])
  const report = await checkDirectory(directory, checkStore)
  if (report.state === 'good' && report.damaged.length === 0 && report.lost.length > 0) {
    const givenBackBytes = await giveBackLost(directory, checkStore)
    const line = `space '${report.space}' in ${directory}: ${formatBytes(givenBackBytes)} that nothing named are free again`
    return { result: { ...report, givenBackBytes }, lines: [line] }
  }
  if (report.state === 'good' && report.damaged.length === 0)
    return { result: report, lines: [...linesOf(directory, report), 'There is nothing to repair.'] }
  const file = saveOf(directory)
  const { space, otherVersion } = await verifySave(file)
  if (report.state === 'good' || report.state === 'unknown') setAside(directory)
  const result = await importSave(file, { name: space, directory, adds: false })
  const lines = [`space '${space}' in ${directory} is restored from ${file}, of ${result.savedAt.toISOString()}`]
  lines.push(...omittedLines(result.omitted))
  // `every` does not replace it either (saving/restore.ts).
  if (otherVersion.length > 0)
    lines.push(`  ${file} still has them: save.every does not replace it until you move it away`)
  return { result, lines }
}

/** If the state is another one, the first member does it. */
function setAside(path: string): void {
  using unused = UnusedDirectory.hold(path)
  unused.directory.setAside()
}
