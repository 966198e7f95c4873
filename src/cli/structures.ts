import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { SpaceStructures } from '../dashboard/index.ts'
import { ArgumentError, nearestWord } from '../native/index.ts'
import { type Command, ExitCode } from './command.ts'
import { parseOptions, secondsOption } from './options.ts'
import { Screen } from './output/screen.ts'
import { formatBytes, formatCount } from './output/units.ts'
import { attachTo, chooseSpace } from './space-choice.ts'
import { showStructure } from './structures/structure-view.ts'
import { busiestFirst, plainName, showStructuresTable } from './structures/structures-table.ts'

const table = {
  interval: { type: 'string', default: '1' },
  region: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether structures [SPACE] [options]
       aether structures SPACE NAME [options]

Lists the structures (maps, queues, locks, …) of a running space of yours on this machine. It shows kind, entries,
bytes, calls per second, calls that wait, entries evicted, and the state now. With NAME it shows one structure: its keys
or next values, who holds it, and what each member does with it. Without SPACE it lists those of the only running space.

It is not a member of the space. It reads shared memory and takes no lock.

'~' stands before bytes that are estimated from a sample. 'changing' stands for a figure that changed too fast.
Structures that the ranks of a group share over the network are not shown.

Options:
  --interval SECONDS   time over which calls per second are counted, 0.1 ... 60 (default 1)
  --region REGION      only the structures of this region
  --json               print one JSON document

Exit status: 0 done; 1 there is no such space or structure; 2 the command line is invalid.

Examples:
  aether structures
  aether structures shop sessions
  aether structures shop --json | jq '.structures[] | select(.waiting > 0) | .name'

What to type to see one (in a second terminal, while the first runs):
  node --input-type=module -e "import { open } from 'aether-dsm'; import { openStructures } from 'aether-dsm/structures'
    const map = await (await openStructures(await open('shop'))).map('sessions')
    setInterval(() => map.setSync('ada', Date.now()), 10)"
  aether structures shop sessions`

/** Names that an error lists. */
const NAMES_MAX = 12

/** `aether structures`. */
export const structuresCommand: Command = {
  help,
  options: table,
  operands: ['space'],

  async run(args) {
    const { values, positionals } = parseOptions('structures', args, table, 2)
    const intervalMs = 1000 * secondsOption('structures', '--interval', values.interval, 0.1, 60)
    const [named, structure] = positionals
    using space = attachTo(chooseSpace('structures', named), SpaceStructures.attach)
    space.look()
    await sleep(intervalMs)
    if (structure === undefined) list(space, values)
    else show(space, structure, values)
    return ExitCode.Done
  },
}

interface Choice {
  readonly region?: string
  readonly json: boolean
}

function list(space: SpaceStructures, { region, json }: Choice): void {
  const seen = space.look()
  const isWanted = (each: { readonly region: string }): boolean => region === undefined || each.region === region
  const structures = busiestFirst(seen.structures.filter(isWanted))
  const memory = seen.memory.filter(isWanted)
  if (json) {
    process.stdout.write(`${JSON.stringify({ space: space.name, structures, memory }, undefined, 2)}\n`)
    return
  }
  const screen = new Screen(process.stdout)
  for (const { region: name, usedBytes, sizeBytes, isEstimate, isOther } of memory) {
    const used = `${isEstimate ? '~' : ''}${formatBytes(usedBytes)} of ${formatBytes(sizeBytes)} used`
    screen.line(
      `${screen.paint('bold', space.name)}  region '${name}': ${isOther ? 'structures of another version of Aether' : used}`,
    )
  }
  if (structures.length > 0) showStructuresTable(structures, screen)
  else screen.line(whyNone(space, memory.length > 0))
}

/** An empty list says why it is empty. */
function whyNone({ name, hasRanks }: SpaceStructures, hasMemory: boolean): string {
  if (hasMemory) return `no structure has been made there yet; a program makes one by 'await shared.map("sessions")'`
  const ranks = hasRanks ? '; those that its ranks share, by openStructures(group), are not shown' : ''
  return `space '${name}' has no structures: none of its members has called openStructures(space)${ranks}`
}

function show(space: SpaceStructures, name: string, { region, json }: Choice): void {
  const seen = space.look()
  const detail = space.detail(name, region)
  if (detail === undefined)
    throw new ArgumentError(
      'NAME',
      `there is no structure '${name}' in space '${space.name}'; ${whatThereIs(
        name,
        seen.structures.map((each) => each.name),
      )}`,
    )
  if (json) process.stdout.write(`${JSON.stringify({ space: space.name, ...detail }, undefined, 2)}\n`)
  else showStructure(space.name, detail, new Screen(process.stdout))
}

function whatThereIs(name: string, names: readonly string[]): string {
  if (names.length === 0) return 'it has no structures'
  const near = nearestWord(name, names)
  if (near !== undefined) return `did you mean '${plainName(near)}'?`
  const more = names.length > NAMES_MAX ? ` and ${formatCount(names.length - NAMES_MAX)} more` : ''
  return `there are ${names.slice(0, NAMES_MAX).map(plainName).join(', ')}${more}`
}
