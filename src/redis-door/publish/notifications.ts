import { bytesOf, CommandFault, type IndexNode } from '../../index-service/index.ts'
import type { Publisher } from './publisher.ts'

/** Which events are published: characters as `notify-keyspace-events` has them. */
export type NotificationFlags = ReadonlySet<string>

/** All that `A` stands for. */
const ALL = 'g$lshzxetd'
const SHOWN = `${ALL}n`
const KNOWN = `A${ALL}KEmn`

/** @throws CommandFault */
export function parseFlags(text: string): NotificationFlags {
  const flags = new Set<string>()
  for (const flag of text) {
    if (!KNOWN.includes(flag)) throw new CommandFault("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
    for (const each of flag === 'A' ? ALL : flag) flags.add(each)
  }
  return flags
}

/** In the order of Redis, which leaves `n` out if all others are there. */
export function formatFlags(flags: NotificationFlags): string {
  const isAll = [...ALL].every((flag) => flags.has(flag))
  const classes = isAll ? 'A' : [...SHOWN].filter((flag) => flags.has(flag)).join('')
  return classes + [...'KEm'].filter((flag) => flags.has(flag)).join('')
}

/** Publishes what happens to keys of shards that are held here, to clients of this door. */
export class Notifications {
  readonly #node: Pick<IndexNode, 'keyListener'>
  readonly #publisher: Publisher
  #flags: NotificationFlags = new Set()

  constructor(node: Pick<IndexNode, 'keyListener'>, publisher: Publisher) {
    this.#node = node
    this.#publisher = publisher
  }

  get flags(): NotificationFlags {
    return this.#flags
  }

  set flags(flags: NotificationFlags) {
    this.#flags = flags
    const isNothing = flags.size === 0 || !(flags.has('K') || flags.has('E'))
    this.#node.keyListener = isNothing ? undefined : (db, kind, event, key) => this.#hear(db, kind, event, key)
  }

  /** `kind`: the character of its class. */
  #hear(db: number, kind: string, event: string, key: Uint8Array): void {
    const flags = this.#flags
    if (!flags.has(kind) || this.#publisher.subscriptions.isEmpty) return
    if (flags.has('K')) this.#publisher.deliver(joined(`__keyspace@${db}__:`, key), bytesOf(event))
    if (flags.has('E')) this.#publisher.deliver(bytesOf(`__keyevent@${db}__:${event}`), key)
  }
}

function joined(prefix: string, key: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(prefix.length + key.length)
  bytes.set(bytesOf(prefix))
  bytes.set(key, prefix.length)
  return bytes
}
