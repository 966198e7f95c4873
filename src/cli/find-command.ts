import { nearestWord } from '../native/index.ts'
import type { CommandEntry } from './commands.ts'
import { UsageError } from './usage-error.ts'

/** The command with that name. @throws UsageError with a suggestion if there is none. */
export function findCommand(entries: readonly CommandEntry[], name: string): CommandEntry {
  const entry = entries.find((each) => each.name === name)
  if (entry !== undefined) return entry
  const names = entries.map((each) => each.name)
  const near = nearestWord(name, names)
  const advice = near === undefined ? `the commands are ${names.join(', ')}` : `did you mean '${near}'?`
  throw new UsageError(`there is no command '${name}'; ${advice}`)
}
