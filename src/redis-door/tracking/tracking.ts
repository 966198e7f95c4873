import { type IndexNode, latin1Of, slotOf } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import type { Clients } from '../connection/clients.ts'
import type { Router } from '../routing/router.ts'
import type { DoorParameters } from '../settings/door-parameters.ts'
import { ChangeFeeds } from './change-feeds.ts'
import { ClientTracking, type Invalidated, type TrackingOptions } from './client-tracking.ts'
import { FollowedShards } from './followed-shards.ts'
import { Invalidations } from './invalidations.ts'
import { ShardChanges } from './shard-changes.ts'
import { TrackedKeys } from './tracked-keys.ts'
import { TrackedPrefixes } from './tracked-prefixes.ts'
import type { TransactionReads } from './transaction-reads.ts'

/** Numbers of clients that differ by as much have the same origin. */
const ORIGIN_CLIENTS = 2 ** 22
const ORIGIN_DOORS = 2 ** 30

/** Clients that are gone, and still known for a key. */
const GONE_MAX = 64

/** Clients are told to forget all if changes may not have come for so long. */
const SILENT_MS = 5000

export interface TrackingParts {
  readonly node: IndexNode
  readonly clients: Clients
  readonly parameters: DoorParameters
  readonly router: Router
}

/**
 * Clients that keep what they have read, and are told when it changes: CLIENT TRACKING. A key has one name in all
 * databases, as in Redis.
 *
 * A key is known here before it is read. A change that comes between is told behind the answer, which may be older. So
 * is a key at once whose changes do not come to be known here.
 */
export class Tracking {
  readonly #changes: ShardChanges
  readonly #feeds: ChangeFeeds
  readonly #shards: FollowedShards
  readonly #parameters: DoorParameters
  readonly #router: Router
  readonly #clients: Clients
  readonly #tracking = new Set<DoorClient>()
  readonly #keys = new TrackedKeys()
  readonly #prefixes = new TrackedPrefixes()
  readonly #invalidations: Invalidations
  /** Tells the clients of this door from those of others. */
  readonly #origin = (1 + Math.floor(Math.random() * ORIGIN_DOORS)) * ORIGIN_CLIENTS
  #isBroadcasting = false
  /** Clients that will track as soon as all changes come to be known. */
  #starting = 0

  constructor({ node, clients, parameters, router }: TrackingParts) {
    this.#changes = new ShardChanges(node)
    this.#feeds = new ChangeFeeds(node, this.#changes, SILENT_MS)
    this.#shards = new FollowedShards({
      node,
      silentMs: SILENT_MS,
      onChange: (key, origin) => this.#changed(key, origin),
      onLost: () => this.#changed(undefined, undefined),
      onGained: () => this.#gained(),
    })
    this.#clients = clients
    this.#parameters = parameters
    this.#router = router
    this.#invalidations = new Invalidations(clients)
    parameters.onChanged((name) => {
      if (name === 'tracking-table-max-keys') this.#bound()
    })
  }

  get figures(): {
    readonly clients: number
    readonly keys: number
    readonly items: number
    readonly prefixes: number
  } {
    const { size: keys, items } = this.#keys
    return { clients: this.#tracking.size, keys, items, prefixes: this.#prefixes.size }
  }

  /** It begins, or has other options from now on, and further prefixes. Undefined: it has done so already. */
  start(client: DoorClient, options: TrackingOptions, prefixes: readonly string[]): Promise<void> | undefined {
    this.#starting += 1
    this.#listen()
    const ready = this.#shards.ready()
    if (ready !== undefined) return ready.then(() => this.#start(client, options, prefixes))
    this.#start(client, options, prefixes)
    return undefined
  }

  /** Keys that it has read are forgotten when they change. */
  stop(client: DoorClient): void {
    if (client.tracking === undefined) return
    for (const prefix of client.tracking.prefixes) this.#prefixes.remove(prefix, client)
    client.tracking = undefined
    this.#tracking.delete(client)
    if (this.#tracking.size > 0) return
    this.#keys.clear()
    this.#listen()
  }

  /** The door closes. */
  close(): void {
    for (const client of [...this.#tracking]) this.stop(client)
    this.#shards.close()
    this.#feeds.close()
  }

  /** A command of a client that tracks is under way, and reads these keys. `mayWait`: it may take long. */
  began(client: DoorClient, keys: readonly Uint8Array[], mayWait: boolean = false): void {
    const tracking = client.tracking!
    tracking.isBusy = true
    tracking.isWaiting = mayWait
    if (keys.length > 0) this.read(client, keys)
  }

  /** What is under way reads these keys, too. `rereads`: as {@link TransactionReads} has it. */
  read(client: DoorClient, keys: readonly Uint8Array[], rereads?: TransactionReads['rereads']): void {
    const tracking = client.tracking!
    for (const [name, isRead] of rereads ?? []) tracking.rereads.set(name, isRead || this.#keys.has(name, client.id))
    const isKept = !tracking.options.isBroadcast && isCaching(tracking)
    for (const key of keys) {
      const name = latin1Of(key)
      tracking.reading.add(name)
      if (!isKept) continue
      if (this.#isTold(key)) this.#keep(name, client.id)
      else tracking.late.push([name])
    }
    if (isKept) this.#bound()
  }

  /** It has these keys, and said only afterwards that it keeps them: in one transaction. */
  readBefore({ tracking }: DoorClient, keys: readonly Uint8Array[]): void {
    if (keys.length > 0 && isCaching(tracking!)) tracking!.late.push(keys.map(latin1Of))
  }

  /** One of several commands that go together is begun, and the next one follows. */
  follows({ tracking, transaction }: DoorClient): void {
    if (transaction === undefined) tracking!.isCachingSaid = false
  }

  /** All that was under way is answered. */
  answered(client: DoorClient): void {
    const tracking = client.tracking!
    tracking.isBusy = false
    tracking.isWaiting = false
    tracking.reading.clear()
    tracking.rereads.clear()
    if (!client.lastCommand.startsWith('client|')) this.follows(client)
    for (const keys of tracking.late.splice(0)) this.#invalidations.send(client, keys)
  }

  #start(client: DoorClient, options: TrackingOptions, prefixes: readonly string[]): void {
    this.#starting -= 1
    // It may have ended meanwhile.
    if (!client.line.isEnding) {
      client.tracking ??= new ClientTracking(this.#origin + (client.id % ORIGIN_CLIENTS), options)
      const { tracking } = client
      tracking.options = options
      tracking.isRedirectBroken = false
      for (const prefix of prefixes) {
        tracking.prefixes.add(prefix)
        this.#prefixes.add(prefix, client)
      }
      this.#tracking.add(client)
    }
    this.#listen()
  }

  /** Where clients come and go, and a key does not change, those that are gone would be ever more. */
  #keep(name: string, id: number): void {
    if (this.#keys.add(name, id) > 2 * this.#tracking.size + GONE_MAX)
      this.#keys.leaveOut(name, (each) => this.#clients.get(each)?.tracking === undefined)
  }

  /** Whether this node comes to know of the key's changes. */
  #isTold(key: Uint8Array): boolean {
    return this.#shards.isWhole || this.#shards.has(this.#router.shardOf(slotOf(key)))
  }

  /** As long as anyone tracks. */
  #listen(): void {
    if (this.#tracking.size === 0 && this.#starting === 0) {
      this.#changes.delete(this.#onChange)
      this.#shards.end()
    } else {
      this.#changes.add(this.#onChange)
      this.#shards.begin()
    }
  }

  readonly #onChange = (_shard: number, key: string | undefined, origin: number | undefined): void => {
    this.#changed(key, origin)
  }

  /** Before that, others have been told that they may not keep what they read. */
  #gained(): void {
    for (const client of this.#tracking)
      if (client.tracking!.options.isBroadcast) this.#tell(client, undefined, undefined)
  }

  #changed(name: string | undefined, origin: number | undefined): void {
    if (name === undefined) {
      this.#keys.clear()
      for (const client of this.#tracking) this.#tell(client, undefined, origin)
      return
    }
    this.#forget(name, origin)
    if (!this.#prefixes.change(name, origin) || this.#isBroadcasting) return
    this.#isBroadcasting = true
    // Before anyone has the answer of what has changed it.
    queueMicrotask(() => this.#broadcast())
  }

  /** Clients that have read it are told. */
  #forget(name: string, origin: number | undefined): void {
    for (const id of this.#keys.take(name) ?? []) {
      const client = this.#clients.get(id)
      // Those that track no more, or in another way, are left in the table.
      if (client?.tracking === undefined || client.tracking.options.isBroadcast) continue
      const isOwn = origin === client.tracking.origin
      if (!(isOwn && this.#isReadAgain(client, name)) && !(isOwn && client.tracking.options.isNoLoop))
        this.#tell(client, [name], origin)
    }
  }

  /** True if it is not told of its own change, since it reads the key behind it, and did not have it before. */
  #isReadAgain({ id, tracking }: DoorClient, name: string): boolean {
    const isTold = tracking!.rereads.get(name)
    if (isTold === undefined) return false
    tracking!.rereads.set(name, false)
    this.#keep(name, id)
    return !isTold
  }

  #broadcast(): void {
    this.#isBroadcasting = false
    for (const { clients, changed } of this.#prefixes.take()) {
      const names = [...changed.keys()]
      for (const client of clients) {
        const { origin, options } = client.tracking!
        const told = options.isNoLoop ? names.filter((name) => changed.get(name) !== origin) : names
        if (told.length > 0)
          this.#tell(client, told, names.every((name) => changed.get(name) === origin) ? origin : undefined)
      }
    }
  }

  #tell(client: DoorClient, keys: Invalidated, origin: number | undefined): void {
    const tracking = client.tracking!
    const { reading } = tracking
    const isRead = keys === undefined ? reading.size > 0 : keys.some((key) => reading.has(key))
    const isLate = tracking.isBusy && (isRead || origin === tracking.origin)
    // How long it waits for the answer is not known.
    const isTwice = isLate && tracking.isWaiting && isRead && origin !== tracking.origin
    if (isTwice) tellAgain(tracking, keys)
    else if (isLate) tracking.late.push(keys)
    if (!isLate || isTwice) this.#invalidations.send(client, keys)
  }

  /** No more keys than may be. */
  #bound(): void {
    const max = this.#parameters.trackedKeysMax
    if (max === 0) return
    while (this.#keys.size > max) this.#forget(this.#keys.oldest!, undefined)
  }
}

/** With the answer, too. While a client waits, a key may change any number of times: once is enough. */
function tellAgain({ reading, late }: ClientTracking, keys: Invalidated): void {
  const again = keys?.filter((key) => reading.has(key) && !late.some((told) => told?.includes(key)))
  if (again === undefined ? !late.includes(undefined) : again.length > 0) late.push(again)
}

/** As far as CLIENT CACHING decides it. */
function isCaching({ options: { opts }, isCachingSaid }: ClientTracking): boolean {
  return opts === undefined || (opts === 'in') === isCachingSaid
}
