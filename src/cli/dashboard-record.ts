import process from 'node:process'
import { type FollowedSpace, RECORD_BYTES_MIN, SessionRecorder } from '../dashboard/index.ts'
import { parseSize } from '../dsm/index.ts'
import { packageVersion } from '../native/index.ts'
import { UsageError } from './usage-error.ts'

export const recordLimitDefault = '256MiB'

/** Where to record the dashboard, and how much. */
export interface RecordChoice {
  readonly path: string
  readonly limitBytes: number
}

/** @throws UsageError if the size is invalid, or too small to hold anything. */
export function recordChoice(
  command: string,
  path: string | undefined,
  limit: string | undefined,
): RecordChoice | undefined {
  if (path === undefined) {
    if (limit !== undefined) throw new UsageError('--record-limit needs --record FILE', command)
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
 * Start to record. If the recording ends early, the reason is printed on standard error, and everything else goes on.
 * @throws SessionFileError if the file exists or cannot be created.
 */
export function startRecorder(source: FollowedSpace, choice: RecordChoice): SessionRecorder {
  return new SessionRecorder({
    ...choice,
    source,
    aether: packageVersion(),
    onEnd: (why) => process.stderr.write(`aether: ${why}\n`),
  })
}
