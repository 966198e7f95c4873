import { accessSync, constants, readdirSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import process from 'node:process'
import { type MergedTrace, mergeTrace, removeTraceParts } from '../profiling/index.ts'
import { formatCount } from './output/units.ts'
import { UsageError } from './usage-error.ts'

/** The variable that names the file to each process. Each writes a part of it. */
const FILE_VARIABLE = 'AETHER_TRACE_FILE'

/** The entry for `--trace` in a help text. */
export const traceHelp = `--trace FILE             write what the processes do to FILE, for ui.perfetto.dev or chrome://tracing`

/**
 * Call `run`, which starts processes, and make them write a trace to `file`. The default is AETHER_TRACE_FILE; if that
 * is not set either, there is no trace. When `run` has ended, even if it failed, the parts are merged and a summary is
 * printed on standard error.
 * @throws UsageError of `command` if the file's directory is not writable.
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
    throw new UsageError(`--trace: ${directory} is not a writable directory`, command, { cause })
  }
}

function merged(path: string): string {
  try {
    return inWords(path, mergeTrace(path))
  } catch (error) {
    return `no trace was written: ${(error as Error).message}`
  }
}

/** A summary of a merged trace, as a sentence. */
export function inWords(path: string, { processes, events, flows, dropped, crowded, writing }: MergedTrace): string {
  const missing = dropped === 0 ? '' : `; ${formatCount(dropped)} more did not fit (AETHER_TRACE_FILE_MIB)`
  const undrawn = crowded === 0 ? '' : `; ${crowdedInWords(crowded)}`
  const more =
    writing === 0
      ? ''
      : `; ${formatCount(writing)} processes are still writing: after they have ended, 'npx aether-dsm trace ${path}' merges again and removes the parts`
  return `${path}: ${formatCount(events)} events of ${processes} processes, ${formatCount(flows)} linked to their effects${missing}${undrawn}${more}`
}

/** How many events are not drawn, and why. */
export function crowdedInWords(crowded: number): string {
  return `${formatCount(crowded)} are not drawn, because too many of one thread overlapped`
}
