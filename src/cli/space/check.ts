import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { checkStore } from '../../adapters/index.ts'
import { ArgumentError } from '../../native/index.ts'
import { checkDirectory, type DirectoryDamage, type DirectoryReport, verifySave } from '../../saving/index.ts'
import { formatBytes } from '../output/units.ts'
import { omittedLines } from './omitted-lines.ts'
import { operandsOf, type SpaceTask, type TaskOutcome } from './task.ts'

export const checkPlace: SpaceTask = async (operands) => {
  const [where = ''] = operandsOf('check', operands, ['DIRECTORY or FILE'])
  const status = statSync(where, { throwIfNoEntry: false })
  if (status === undefined) throw new ArgumentError('DIRECTORY or FILE', `there is no ${where}`)
  return status.isDirectory() ? await checkSpace(where) : await checkSave(resolve(where), status.size)
}

async function checkSave(file: string, bytes: number): Promise<TaskOutcome> {
  const { names, plainRegions, ...save } = await verifySave(file)
  const what = `${save.regions} regions, ${save.structures} structures with ${save.records} records, ${formatBytes(bytes)}`
  const line = `${file} is whole: space '${save.space}' of ${save.savedAt.toISOString()}, ${what}`
  return { result: { ...save, names, plainRegions }, lines: [line, ...omittedLines(save.omitted)] }
}

async function checkSpace(directory: string): Promise<TaskOutcome> {
  const result = await checkDirectory(directory, checkStore)
  const failed = result.state !== 'good' || result.damaged.length > 0 || result.lost.length > 0
  return { result, lines: linesOf(directory, result), failed }
}

const advice = 'open it, or run: npx aether-dsm space repair'

/** What each state means to the user. */
const meanings: Readonly<Record<DirectoryReport['state'], string>> = {
  good: '',
  restarted: `the machine restarted while the space was in use, so its memory may be damaged; to restore the save, ${advice}`,
  interrupted: `a restore was cut off; to begin it again, ${advice}`,
  incomplete: 'its file was never finished; the next open begins it again',
  unknown: 'its file is not the memory of a space, or is one of another version of Aether; use that version',
  missing: 'there is no space in it',
}

export function linesOf(directory: string, report: DirectoryReport): readonly string[] {
  const { space, state, endedInOrder, regions, structures, records, damaged, lost, omitted } = report
  const name = space === '' ? directory : `${directory}: space '${space}'`
  if (state !== 'good') return [`${name}: ${meanings[state]}`]
  const end = endedInOrder ? 'ended in order' : 'all of its processes were killed'
  const lines = lost.map(({ region, bytes }) => {
    const repair = `to give it back, run: npx aether-dsm space repair ${directory}`
    return `  lost: ${formatBytes(bytes)} in region '${region}' that nothing names; ${repair}`
  })
  const unread = omitted.map(
    ({ region, structure, reason }) =>
      `  not looked at: ${structure === undefined ? '' : `'${structure}' in `}region '${region}': ${reason}`,
  )
  const whole = omitted.length === 0 ? 'is whole' : 'is whole, as far as was looked at'
  const isSound = damaged.length === 0
  const verdict = isSound ? (lost.length === 0 ? whole : 'has lost memory') : `has ${damaged.length} damaged structures`
  return [
    `${name} ${verdict}: ${end}; ${regions} regions, ${structures} structures with ${records} records`,
    ...damaged.map(damageLine),
    ...lines,
    ...unread,
  ]
}

function damageLine({ region, structure, kind, reason }: DirectoryDamage): string {
  const where = structure === undefined ? `region '${region}'` : `'${structure}' in region '${region}'`
  return `  damaged: ${where}: ${kind}: ${reason}`
}
