import { type Command, ExitCode } from './command.ts'
import { parseOptions } from './options.ts'
import { Screen } from './output/screen.ts'
import { checkPlace } from './space/check.ts'
import { dropSpace } from './space/drop.ts'
import { exportSpace } from './space/export.ts'
import { importSpace } from './space/import.ts'
import { repairSpace } from './space/repair.ts'
import type { SpaceTask } from './space/task.ts'
import { UsageError } from './usage-error.ts'

const table = {
  directory: { type: 'string', short: 'd' },
  add: { type: 'boolean', default: false },
  consistent: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
} as const

const help = `Usage: aether space export NAME|DIRECTORY FILE [--consistent]
       aether space import FILE [NAME] [--directory DIRECTORY] [--add]
       aether space check DIRECTORY|FILE
       aether space repair DIRECTORY
       aether space drop DIRECTORY

Saves of spaces, and spaces in directories.

  export   writes all regions and structures of a space to FILE, as space.save() does. The space may be in use.
           FILE is replaced as a whole, and belongs to you alone (mode 0600). With --consistent, all structures are
           saved as they are at one instant. Operations on them wait for that: about 50 ms for 64 MiB in use.
  import   puts a save into the running space NAME, or into a space in DIRECTORY, which is made. It refuses to touch
           regions and structures that are there already, unless you pass --add. Then it sets entries of maps, appends
           to queues, stacks, logs and channels, and replaces numbers and the bytes of regions. It leaves out, and
           names, queues of BullMQ as another version of Aether keeps them.
  check    reads a save, and compares every checksum. Of a directory that no process uses, it tells whether the space
           can be opened and how it ended, and checks every structure. It changes nothing.
  repair   restores a damaged space from the save in its directory (aether.save). The damaged file is kept beside it,
           as aether.arena.torn. If only memory is lost that nothing names, it gives that back.
  drop     removes a space from its directory, with its save. It refuses while processes are in the space.

A path has a '/' in it. Other words are names of spaces.

Options:
  -d, --directory DIRECTORY   the space in this directory
  --add                       add to what is there under the same names
  --consistent                save all structures as they are at one instant
  --json                      print the result as one JSON document

Exit status: 0 done; 1 it failed, or check found damage; 2 the command line is invalid.

Examples:
  aether space export shop ./shop.save
  aether space check ./shop.save
  aether space import ./shop.save --directory /var/lib/shop
  aether space check /var/lib/shop && echo whole`

const tasks: Readonly<Record<string, SpaceTask>> = {
  export: exportSpace,
  import: importSpace,
  check: checkPlace,
  repair: repairSpace,
  drop: dropSpace,
}

/** `aether space`. */
export const spaceCommand: Command = {
  help,
  options: table,
  operands: [Object.keys(tasks), 'space', 'file'],

  async run(args) {
    const { values, positionals } = parseOptions('space', args, table, 3)
    const [word, ...operands] = positionals
    const task = word === undefined || !Object.hasOwn(tasks, word) ? undefined : tasks[word]
    if (task === undefined) {
      const what = word === undefined ? 'say what to do' : `there is no 'npx aether-dsm space ${word}'`
      throw new UsageError(`${what}: ${Object.keys(tasks).join(', ')}`, 'space')
    }
    const { result, lines, failed } = await task(operands, values)
    const screen = new Screen(process.stdout)
    if (values.json) process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
    else for (const line of lines) screen.line(line)
    return failed === true ? ExitCode.Failed : ExitCode.Done
  },
}
