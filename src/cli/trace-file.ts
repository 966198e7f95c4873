import { accessSync, constants, readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import process from 'node:process'
import { type MergedTrace, mergeTrace, removeTraceParts } from '../profiling/index.ts'
import { formatCount } from './output/units.ts'
import { UsageError } from './usage-error.ts'

/** What names the file to each process, which writes parts of it. */
const FILE_VARIABLE = 'AETHER_TRACE_FILE'

/** The line of help of `--trace`. */
export const traceHelp = `--trace FILE             write what the processes did to FILE, for ui.perfetto.dev or chrome://tracing`

/**
 * Run what starts processes, and have them write a trace to `file`; undefined: where AETHER_TRACE_FILE says, if it
 * does. Their parts are put together when it has ended, however it ended, and what came out is said on standard error.
 * @throws UsageError of `command` where the file's directory cannot be written.
 */
export async function withTraceFile<T>(command: string, file: string | undefined, run: () => Promise<T>): Promise<T> {
  const wanted = file ?? (process.env[FILE_VARIABLE] || undefined)
  if (wanted === undefined) return await run()
  const path = resolve(wanted)
  checkDirectory(command, path)
  removeTraceParts(path)
  const before = process.env[FILE_VARIABLE]
  process.env[FILE_VARIABLE] = path
  try {
    return await run()
  } finally {
    if (before === undefined) delete process.env[FILE_VARIABLE]
    else process.env[FILE_VARIABLE] = before
    process.stderr.write(`aether: ${merged(path)}\n`)
  }
}

function checkDirectory(command: string, path: string): void {
  const directory = dirname(path)
  try {
    readdirSync(directory)
    accessSync(directory, constants.W_OK)
  } catch (cause) {
    throw new UsageError(`--trace: no file can be written in ${directory}`, command, { cause })
  }
}

function merged(path: string): string {
  try {
    return inWords(path, mergeTrace(path))
  } catch (error) {
    return `no trace was written: ${(error as Error).message}`
  }
}

/** What a trace file came to be, as a sentence. */
export function inWords(path: string, { processes, events, flows, dropped, crowded, writing }: MergedTrace): string {
  const missing = dropped === 0 ? '' : `; ${formatCount(dropped)} more did not fit (AETHER_TRACE_FILE_MIB)`
  const undrawn = crowded === 0 ? '' : `; ${crowdedInWords(crowded)}`
  const more =
    writing === 0
      ? ''
      : `; ${formatCount(writing)} of the processes still write: 'aether trace ${path}' makes it anew, and removes the parts when they have ended`
  return `${path}: ${formatCount(events)} events of ${processes} processes, ${formatCount(flows)} followed to what they caused${missing}${undrawn}${more}`
}

/** What was too much at a time to be drawn. */
export function crowdedInWords(crowded: number): string {
  return `${formatCount(crowded)} were not drawn, because too many of one thread were under way`
}
