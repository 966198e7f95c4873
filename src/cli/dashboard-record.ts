import process from 'node:process'
import { type FollowedSpace, RECORD_BYTES_MIN, SessionRecorder } from '../dashboard/index.ts'
import { parseSize } from '../dsm/index.ts'
import { UsageError } from './usage-error.ts'
import { readVersion } from './version.ts'

export const recordLimitDefault = '256MiB'

/** What a recording of the dashboard was asked to be. */
export interface RecordChoice {
  readonly path: string
  readonly limitBytes: number
}

/** @throws UsageError for a size that is none, or too little to hold anything. */
export function recordChoice(
  command: string,
  path: string | undefined,
  limit: string | undefined,
): RecordChoice | undefined {
  if (path === undefined) {
    if (limit !== undefined) throw new UsageError('--record-limit is for --record FILE', command)
    return undefined
  }
  let limitBytes = 0
  try {
    limitBytes = parseSize((limit ?? recordLimitDefault) as `${number}MiB`, '--record-limit')
  } catch (cause) {
    throw new UsageError(`--record-limit takes a size such as 64MiB, not '${limit}'`, command, { cause })
  }
  if (limitBytes < RECORD_BYTES_MIN) throw new UsageError('--record-limit takes 4KiB or more', command)
  return { path, limitBytes }
}

/**
 * Begin to record; what ends it early is said on standard error, and ends nothing else. @throws SessionFileError where
 * the file is there, or cannot be made.
 */
export function startRecorder(source: FollowedSpace, choice: RecordChoice): SessionRecorder {
  return new SessionRecorder({
    ...choice,
    source,
    aether: readVersion(),
    onEnd: (why) => process.stderr.write(`aether: ${why}\n`),
  })
}
