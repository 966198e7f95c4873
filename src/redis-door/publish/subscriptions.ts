import { matches } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'

/** What one client listens to, as latin1. */
export interface Listening {
  readonly channels: Set<string>
  readonly patterns: Set<string>
  /** Those of SSUBSCRIBE, which are apart. */
  readonly shardChannels: Set<string>
}

export type ListeningKind = keyof Listening

/** Which clients of a door listen to which channels and patterns. */
export class Subscriptions {
  readonly #clients = new Map<DoorClient, Listening>()
  readonly #byName: Readonly<Record<ListeningKind, Map<string, Set<DoorClient>>>> = {
    channels: new Map(),
    patterns: new Map(),
    shardChannels: new Map(),
  }

  /** True if no one listens to anything. */
  get isEmpty(): boolean {
    return this.#clients.size === 0
  }

  get patternCount(): number {
    return this.#byName.patterns.size
  }

  names(kind: ListeningKind): Iterable<string> {
    return this.#byName[kind].keys()
  }

  of(kind: ListeningKind, name: string): ReadonlySet<DoorClient> | undefined {
    return this.#byName[kind].get(name)
  }

  /** Patterns that a channel matches, and who has them. */
  *patternsFor(channel: string): Generator<readonly [pattern: string, clients: ReadonlySet<DoorClient>]> {
    for (const [pattern, clients] of this.#byName.patterns) if (matches(pattern, channel)) yield [pattern, clients]
  }

  listeningOf(client: DoorClient): Listening | undefined {
    return this.#clients.get(client)
  }

  /** How much the client listens to afterwards, as Redis counts: those of shards apart. */
  add(client: DoorClient, kind: ListeningKind, name: string): number {
    const listening = this.#clients.get(client) ?? emptyListening()
    this.#clients.set(client, listening)
    if (!listening[kind].has(name)) {
      listening[kind].add(name)
      const clients = this.#byName[kind].get(name)
      if (clients === undefined) this.#byName[kind].set(name, new Set([client]))
      else clients.add(client)
    }
    return this.#counted(client, kind)
  }

  /** As {@link add}. */
  remove(client: DoorClient, kind: ListeningKind, name: string): number {
    const listening = this.#clients.get(client)
    if (listening?.[kind].delete(name) === true) {
      const clients = this.#byName[kind].get(name)!
      clients.delete(client)
      if (clients.size === 0) this.#byName[kind].delete(name)
      const { channels, patterns, shardChannels } = listening
      if (channels.size + patterns.size + shardChannels.size === 0) this.#clients.delete(client)
    }
    return this.#counted(client, kind)
  }

  /** The client is gone, or begins again. */
  removeAll(client: DoorClient): void {
    const listening = this.#clients.get(client)
    if (listening === undefined) return
    for (const kind of kinds) for (const name of [...listening[kind]]) this.remove(client, kind, name)
    client.subscriptions = 0
  }

  #counted(client: DoorClient, kind: ListeningKind): number {
    const { channels, patterns, shardChannels } = this.#clients.get(client) ?? emptyListening()
    client.subscriptions = channels.size + patterns.size + shardChannels.size
    return kind === 'shardChannels' ? shardChannels.size : channels.size + patterns.size
  }
}

const kinds = ['channels', 'patterns', 'shardChannels'] as const

function emptyListening(): Listening {
  return { channels: new Set(), patterns: new Set(), shardChannels: new Set() }
}
