import process from 'node:process'
import { printError } from '../print-error.ts'
import { parseTraceFilter, type TraceFilter } from './trace-filter.ts'
import { parseTraceLevel, TraceLevel } from './trace-level.ts'

/** The settings of the environment for tracing. */
export interface TraceSettings {
  /** Undefined if it is not set. */
  readonly level: TraceLevel | undefined
  readonly filter: TraceFilter | undefined
  /** The trace file to which this thread's events go, as a part. */
  readonly file: string | undefined
  readonly fileBytesMax: number
}

const FILE_MIB_DEFAULT = 16
const FILE_MIB_MAX = 4096

/**
 * Read the environment. A value that cannot be understood is reported once on standard error and ignored: tracing must
 * never make a program fail.
 */
function readTraceSettings(environment: NodeJS.ProcessEnv): TraceSettings {
  const { AETHER_TRACE_LEVEL, AETHER_TRACE_FILTER, AETHER_TRACE_FILE, AETHER_TRACE_FILE_MIB } = environment
  return {
    level: understood('AETHER_TRACE_LEVEL', AETHER_TRACE_LEVEL, parseTraceLevel, 'ERROR, WARN, INFO, DEBUG or TRACE'),
    filter: understood('AETHER_TRACE_FILTER', AETHER_TRACE_FILTER, parseTraceFilter, 'terms like type=fault,page!=7'),
    file: AETHER_TRACE_FILE || undefined,
    fileBytesMax:
      2 ** 20 *
      (understood('AETHER_TRACE_FILE_MIB', AETHER_TRACE_FILE_MIB, parseMib, `1 to ${FILE_MIB_MAX}`) ??
        FILE_MIB_DEFAULT),
  }
}

/** The default levels: for people, and for a file, which is read with tools. */
export const defaultLevel: { readonly lines: TraceLevel; readonly file: TraceLevel } = {
  lines: TraceLevel.Info,
  file: TraceLevel.Debug,
}

function parseMib(text: string): number | undefined {
  const mib = /^\d{1,4}$/.test(text) ? Number(text) : 0
  return mib >= 1 && mib <= FILE_MIB_MAX ? mib : undefined
}

function understood<T>(
  name: string,
  text: string | undefined,
  parse: (text: string) => T | undefined,
  takes: string,
): T | undefined {
  if (text === undefined || text === '') return undefined
  const value = parse(text)
  if (value === undefined) printError(`aether: ${name} takes ${takes}, not '${text.slice(0, 100)}'; it is ignored\n`)
  return value
}

let settings: TraceSettings | undefined

/** The settings of this process, read when the first channel is made. */
export const traceSettings = (): TraceSettings => (settings ??= readTraceSettings(process.env))
