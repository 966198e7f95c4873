/** Letters of flags in the catalogue, in the order in which Redis lists them. */
export const commandFlags: ReadonlyMap<string, string> = new Map([
  ['w', 'write'],
  ['r', 'readonly'],
  ['m', 'denyoom'],
  ['a', 'admin'],
  ['p', 'pubsub'],
  ['s', 'noscript'],
  ['b', 'blocking'],
  ['l', 'loading'],
  ['t', 'stale'],
  ['M', 'skip_monitor'],
  ['L', 'skip_slowlog'],
  ['k', 'asking'],
  ['F', 'fast'],
  ['u', 'no_auth'],
  ['R', 'may_replicate'],
  ['n', 'no_mandatory_keys'],
  ['A', 'no_async_loading'],
  ['N', 'no_multi'],
  ['v', 'movablekeys'],
  ['B', 'allow_busy'],
])

/** Categories of commands for rules of users, in the order in which Redis lists them. */
export const commandCategories: readonly string[] = [
  ...['keyspace', 'read', 'write', 'set', 'sortedset', 'list', 'hash', 'string', 'bitmap', 'hyperloglog', 'geo'],
  ...['stream', 'pubsub', 'admin', 'fast', 'slow', 'blocking', 'dangerous', 'connection', 'transaction', 'scripting'],
]

/** Categories that follow from flags. A command that is not fast is slow. */
export function impliedCategories(flags: ReadonlySet<string>): string[] {
  return [
    ...(flags.has('write') ? ['write'] : []),
    ...(flags.has('readonly') ? ['read'] : []),
    ...(flags.has('admin') ? ['admin', 'dangerous'] : []),
    ...(flags.has('pubsub') ? ['pubsub'] : []),
    ...(flags.has('blocking') ? ['blocking'] : []),
    flags.has('fast') ? 'fast' : 'slow',
  ]
}
