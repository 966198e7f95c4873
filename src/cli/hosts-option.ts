import { type HostSlots, parseHosts } from '../cluster/index.ts'
import { ArgumentError } from '../native/index.ts'
import { UsageError } from './usage-error.ts'

/** The hosts of `--hosts`. @throws UsageError for a text that does not name any. */
export function hostsOption(command: string, text: string): readonly HostSlots[] {
  try {
    return parseHosts(text)
  } catch (cause) {
    if (!(cause instanceof ArgumentError)) throw cause
    throw new UsageError(`--hosts: ${cause.message}`, command, { cause })
  }
}
