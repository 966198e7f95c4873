/**
 * Severity: `fail` means that something will not work, `warn` that it will work less well or that a limit is near.
 */
export type Level = 'ok' | 'warn' | 'fail'

/** One line of the report. */
export interface Finding {
  /** What was checked, in a word or two: the same on every machine. */
  readonly check: string
  readonly level: Level
  /** What was found, as a sentence without its full stop. */
  readonly text: string
  /** The command that fixes it, or advice. */
  readonly fix?: string
}

export function ok(check: string, text: string): Finding {
  return { check, level: 'ok', text }
}

export function warn(check: string, text: string, fix?: string): Finding {
  return { check, level: 'warn', text, ...(fix === undefined ? {} : { fix }) }
}

export function fail(check: string, text: string, fix?: string): Finding {
  return { check, level: 'fail', text, ...(fix === undefined ? {} : { fix }) }
}
