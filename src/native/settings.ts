import process from 'node:process'
import { isMainThread } from 'node:worker_threads'
import { nearestWord } from './arguments/nearest-word.ts'

const PREFIX = 'AETHER_'

/** Every environment variable that has a meaning; docs/settings.md describes them. */
export const SETTING_NAMES: readonly string[] = [
  'AETHER_RUNTIME_DIRECTORY',
  'AETHER_DIRECTORY',
  'AETHER_NATIVE',
  'AETHER_NATIVE_ARRAYS',
  'AETHER_ARRAY_THREADS',
  'AETHER_USERFAULT',
  'AETHER_PROFILE',
  'AETHER_TRACE_RDMA',
  'AETHER_TRACE_CM',
  'AETHER_TRACE_MESSAGING',
  'AETHER_TRACE_RPC',
  'AETHER_TRACE_CLUSTER',
  'AETHER_TRACE_DSM',
  'AETHER_TRACE_LEVEL',
  'AETHER_TRACE_FILTER',
  'AETHER_TRACE_FILE',
  'AETHER_TRACE_FILE_MIB',
  'AETHER_WATCHDOG_MS',
  'AETHER_ADVISE',
  'AETHER_ADVISE_DIRECTORY',
  'AETHER_RECORD',
  'AETHER_RANK',
  'AETHER_SIZE',
  'AETHER_RENDEZVOUS',
  'AETHER_SECRET_FILE',
  'AETHER_DEVICE',
  'AETHER_TCP_PORTS',
  'AETHER_SILENCE_MS',
  'AETHER_LEASE_MS',
  'AETHER_SPIN_MS',
  'AETHER_SSH',
  'AETHER_ON_FAILURE',
  'AETHER_TEST_SEEDS',
]

/** What a variable's name begins with if it is meant for this package: `TRACE_` of `AETHER_TRACE_FILE`. */
const families = new Set(
  SETTING_NAMES.flatMap((name) => /^AETHER_([A-Z]+_)/.exec(name)?.[1] ?? []).filter((family) => family !== 'TEST_'),
)

/**
 * Return a sentence for each variable of `environment` that looks like a setting and is none. Other programs may have
 * names with this prefix, so one that is not similar to any is left alone.
 */
export function unknownSettings(environment: NodeJS.ProcessEnv = process.env): readonly string[] {
  const tails = SETTING_NAMES.map((name) => name.slice(PREFIX.length))
  return Object.keys(environment).flatMap((name) => {
    if (!name.startsWith(PREFIX) || SETTING_NAMES.includes(name)) return []
    const tail = name.slice(PREFIX.length)
    const near = nearestWord(tail, tails)
    if (near !== undefined) return [`there is no setting ${name}; did you mean ${PREFIX}${near}?`]
    const family = [...families].find((each) => tail.startsWith(each))
    if (family === undefined) return []
    const members = SETTING_NAMES.filter((each) => each.startsWith(PREFIX + family))
    return [`there is no setting ${name}; there ${members.length === 1 ? 'is' : 'are'} ${members.join(', ')}`]
  })
}

/** Warn of {@link unknownSettings}, in the main thread. */
export function tellUnknownSettings(): void {
  if (isMainThread) for (const text of unknownSettings()) process.emitWarning(text, 'AetherWarning')
}
