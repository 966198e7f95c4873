import {
  type Configuration,
  defaultSettings,
  type Entry,
  type Journal,
  type Recovered,
  Replica,
  type ReplicaCard,
  type ReplicaSettings,
} from 'aether-dsm/internal/consensus'
import type { SimulatedCluster, SimulatedHost, SimulatedProcess } from 'aether-dsm/internal/providers'
import { Random, Timers } from 'aether-dsm/internal/runtime'
import { type EntryInput, entryStep, type HistoryCall } from '../../linearizability/index.ts'
import { ViolationError } from '../observer.ts'

/** Small rings and short times, so that a run meets every border. */
export const simulatedSettings: ReplicaSettings = {
  ...defaultSettings,
  window: 16,
  cellBytes: 512,
  frames: 8,
  inFlightMax: 4,
  ahead: 8,
  tickNs: 200_000,
  silentTicks: 20,
  stuckNs: 10_000_000,
  acknowledgeTimeout: 8,
  historyBytes: 8 * 1024,
}

/** What a run draws: the smaller, the more borders it meets. */
export type SizesOfSimulation = Pick<
  ReplicaSettings,
  'window' | 'ahead' | 'inFlightMax' | 'historyBytes' | 'silentTicks' | 'tickNs' | 'acknowledgeTimeout' | 'journalBytes'
>

/** A journal, and what it holds when its process begins. */
interface Disk extends Journal {
  onSynced: (records: number) => void
  recovered(): Recovered
}

/** What a client's call does, on which key. */
export interface ReplicaCall {
  readonly key: number
  readonly input: EntryInput
}

/** What a program proposes: a line of JSON. `call` is numbered by its client. */
export interface Command extends ReplicaCall {
  readonly client: number
  readonly call: number
}

/** The state machine: keys with numbers, and what each client was answered last. */
interface State {
  readonly keys: Record<number, number>
  readonly answers: Record<number, { readonly call: number; readonly output: number }>
  /** How many commands it has applied. */
  commands: number
}

export interface SimulatedReplicaOptions {
  readonly cluster: SimulatedCluster
  readonly id: number
  readonly seed: number
  readonly disk?: Disk | undefined
  readonly founding: Configuration | undefined
  readonly votersWanted: number
  readonly settings: ReplicaSettings
  readonly protocol: 'mu' | 'velos'
  readonly clients: readonly PlannedClient[]
  readonly askAgainNs: number
  /** How far its clock is ahead of that of the simulation. */
  readonly skewMs: number
  readonly say: (from: SimulatedReplica, to: number, card: ReplicaCard) => void
  /** How many entries are decided anywhere. */
  readonly decided: () => number
  readonly onDecided: (replica: SimulatedReplica, entry: Entry) => void
  /** It has decided this entry, which no acceptor holds. {@link onDecided} follows. */
  readonly onPassed: (replica: SimulatedReplica, entry: Entry) => void
  /** It has applied an entry, or restored a snapshot. */
  readonly onApplied: (replica: SimulatedReplica) => void
  /** It has done what there was to do for the moment. */
  readonly onTurned: (replica: SimulatedReplica) => void
}

/** What a client does: its calls, one after the other, with some time before each. */
export interface PlannedClient {
  readonly number: number
  readonly calls: readonly ReplicaCall[]
  readonly thinkNs: number
}

interface Client extends PlannedClient {
  next: number
  /** When the call under way began; undefined between two calls. */
  calledAt: number | undefined
  /** What was decided when the call under way began. */
  decidedBefore: number
  /** A read: from which entry on it may be answered. */
  readFrom: number | undefined
  readonly history: (HistoryCall<EntryInput, number> & { readonly key: number })[]
}

const LINE = '\n'
/** In the place of a time: the client has not called yet. */
const THINKS = Number.POSITIVE_INFINITY
const SLEEP_NS_MAX = 5_000_000
/** To take a snapshot. */
const TAKES_NS_MAX = 5_000_000

/** A process with a replica and the program that it belongs to, on a host of its own. */
export class SimulatedReplica {
  readonly id: number
  readonly host: SimulatedHost
  readonly replica: Replica
  applied = 0
  /** Those that it has heard of, by id. One that was begun again is another. */
  readonly met: Map<number, SimulatedReplica> = new Map<number, SimulatedReplica>()
  readonly #options: SimulatedReplicaOptions
  readonly #timers = new Timers()
  readonly #process: SimulatedProcess
  readonly #clients: Client[]
  readonly #heard: (() => void)[] = []
  #state: State = { keys: {}, answers: {}, commands: 0 }
  #cancelWait: () => void = nothing
  #proposeAgain = false
  #snapshotWanted = false
  #isTaking = false
  readonly #draws: Random

  constructor(options: SimulatedReplicaOptions) {
    const { cluster, id, seed, disk, founding, votersWanted, settings, protocol, clients, skewMs } = options
    const durability = disk && { journal: disk, recovered: disk.recovered() }
    this.id = id
    this.#options = options
    this.#draws = new Random(seed * 16 + id)
    this.host = cluster.addHost()
    this.#clients = clients.map((client) => ({
      ...{ ...client, next: 0, calledAt: undefined, decidedBefore: 0, readFrom: undefined, history: [] },
    }))
    this.replica = new Replica({
      device: `${cluster.device}/${this.host.index}`,
      ...{ id, settings, protocol, founding, votersWanted, durability },
      runtime: { now: () => cluster.nowNs, timers: this.#timers, random: new Random(seed + id) },
      clockMs: () => skewMs + Math.floor(cluster.nowNs / 1e6),
      events: {
        decided: (entry) => this.#decided(entry),
        say: (to, card) => options.say(this, to, card),
        proposeAgain: () => {
          this.#proposeAgain = true
        },
        snapshotWanted: () => {
          this.#snapshotWanted = true
        },
        restore: (index, bytes) => {
          const snapshot = JSON.parse(Buffer.from(bytes).toString()) as {
            readonly index: number
            readonly state: State
          }
          if (index !== snapshot.index || index <= this.applied)
            throw new ViolationError(
              `snapshot: replica ${id} has ${this.applied} entries, and is given ${snapshot.index} as ${index}`,
            )
          this.#state = snapshot.state
          this.applied = index
          options.onApplied(this)
          this.#answer()
        },
        readable: (token, index) => this.#readable(token, index),
        deviates: () => {
          throw new ViolationError(`check: replica ${id} deviates, and no machine has said what it came to`)
        },
        isResponsive: () => true,
        mayTake: () => true,
      },
    })
    this.#process = this.host.spawn(() => this.#run())
    this.#process.wake()
    if (disk === undefined || durability === undefined) return
    disk.onSynced = (records) => this.command(() => this.replica.synced(records))
    this.replica.recover(durability.recovered)
  }

  get isLive(): boolean {
    return this.host.alive
  }

  /** Its clients have nothing left to do. */
  get isFinished(): boolean {
    return !this.isLive || this.#clients.every(({ next, calls }) => next === calls.length)
  }

  /** Every call that was made; those that the end of its process left open without a return. */
  get history(): readonly (HistoryCall<EntryInput, number> & { readonly key: number })[] {
    return this.#clients.flatMap(({ history, calledAt, calls, next }) => {
      if (calledAt === undefined || calledAt === THINKS) return history
      const { key, input } = calls[next]!
      return [...history, { key, input, calledAt, returned: undefined }]
    })
  }

  /** Changes that were answered, as `client/call`. */
  get answered(): readonly string[] {
    return this.#clients.flatMap(({ number, calls, next }) =>
      calls.slice(0, next).flatMap(({ input }, call) => (input.type === 'get' ? [] : [`${number}/${call}`])),
    )
  }

  get #snapshot(): Uint8Array {
    return Buffer.from(JSON.stringify({ index: this.applied, state: this.#state }))
  }

  get stateText(): string {
    return JSON.stringify(this.#state)
  }

  get commands(): number {
    return this.#state.commands
  }

  /** Something that comes to the process from outside its links. */
  command(command: () => void): void {
    this.#heard.push(command)
    this.#process.wake()
  }

  close(): void {
    this.#cancelWait()
    this.replica.close()
  }

  #run(): void {
    this.#cancelWait()
    do while (this.#turn());
    while (!this.replica.prepareSleep())
    this.#options.onTurned(this)
    this.#cancelWait = this.replica.whenReadable(() => this.#process.wake())
    const { nowNs } = this.#options.cluster
    this.#process.wakeAt(Math.min(this.#timers.nextNs, nowNs + SLEEP_NS_MAX))
  }

  #turn(): boolean {
    const heard = this.#heard.splice(0)
    for (const command of heard) command()
    let any = this.#timers.runDue(this.#options.cluster.nowNs) || heard.length > 0
    any = this.replica.turn() || any
    for (const client of this.#clients) if (client.calledAt === undefined) this.#begin(client)
    if (this.#proposeAgain) {
      this.#proposeAgain = false
      for (const client of this.#clients) if (client.calledAt !== undefined) this.#ask(client)
    }
    if (this.#snapshotWanted && !this.#isTaking) {
      this.#snapshotWanted = false
      this.#takeSnapshot()
      any = true
    }
    return any
  }

  /** What is in it is as it is now. It is offered at once, or a while later. */
  #takeSnapshot(): void {
    const { applied: index } = this
    const bytes = this.#snapshot
    const first = bytes.subarray(0, 1)
    this.#isTaking = true
    this.replica.addToSnapshot(bytes.subarray(1), index, true)
    const offer = (): void => {
      this.#isTaking = false
      while (this.replica.offerSnapshot(index, first));
    }
    const takesNs = this.#draws.below(2) * this.#draws.below(TAKES_NS_MAX)
    if (takesNs === 0) {
      offer()
      return
    }
    const atNs = this.#options.cluster.nowNs + takesNs
    this.#timers.at(atNs, offer)
    this.#process.wakeAt(atNs)
  }

  // ---- the program
  // ---------------------------------------------------------------------------------------------------------------

  #begin(client: Client): void {
    if (client.next === client.calls.length) return
    client.calledAt = THINKS
    const call = client.next
    const { cluster } = this.#options
    const { thinkNs } = client
    this.#timers.at(cluster.nowNs + thinkNs, () => {
      client.calledAt = cluster.nowNs
      client.decidedBefore = this.#options.decided()
      this.#askAgainLater(client, call, this.#options.askAgainNs)
      this.#ask(client)
    })
    this.#process.wakeAt(cluster.nowNs + thinkNs)
  }

  #ask(client: Client): void {
    if (!isCalling(client)) return
    const { key, input } = client.calls[client.next]!
    if (input.type === 'get') {
      if (client.readFrom === undefined) this.replica.askIndex(tokenOf(client))
      return
    }
    const command: Command = { client: client.number, call: client.next, key, input }
    const payload = Buffer.from(JSON.stringify(command) + LINE)
    const passed = this.replica.pass(this.applied)
    if (passed === undefined) {
      this.replica.propose(payload)
      return
    }
    const entry = { ...passed, flags: 0, payload }
    this.#options.onPassed(this, entry)
    this.#decided(entry)
  }

  /** Each time it waits twice as long, so that no one is asked more than it can answer. */
  #askAgainLater(client: Client, call: number, afterNs: number): void {
    this.#timers.at(this.#options.cluster.nowNs + afterNs, () => {
      if (client.next !== call) return
      this.#ask(client)
      this.#askAgainLater(client, call, 2 * afterNs)
    })
  }

  #readable(token: number, index: number | undefined): void {
    const client = this.#clients.find((each) => isCalling(each) && tokenOf(each) === token)
    if (index === undefined || client === undefined || client.readFrom !== undefined) return
    if (index < client.decidedBefore)
      throw new ViolationError(
        `read: ${this.id} may read from ${index} on, and ${client.decidedBefore} were decided before the call`,
      )
    client.readFrom = index
    this.#answer()
  }

  #decided(entry: Entry): void {
    if (entry.index !== this.applied + 1)
      throw new ViolationError(`order: replica ${this.id} is given entry ${entry.index} after ${this.applied}`)
    this.#options.onDecided(this, entry)
    this.applied = entry.index
    for (const command of commandsOf(entry)) this.#apply(command)
    this.#options.onApplied(this)
    this.#answer()
  }

  #apply({ client, call, key, input }: Command): void {
    const { keys, answers } = this.#state
    const before = answers[client]
    if (before !== undefined && before.call >= call) return
    const [after, output] = entryStep(keys[key] ?? 0, input)
    keys[key] = after
    answers[client] = { call, output }
    this.#state.commands += 1
  }

  /** Answer what can be. */
  #answer(): void {
    for (const client of this.#clients) {
      if (!isCalling(client)) continue
      const { key, input } = client.calls[client.next]!
      const answer = this.#state.answers[client.number]
      if (input.type === 'get') {
        if (client.readFrom === undefined || client.readFrom > this.applied) continue
        this.#finish(client, this.#state.keys[key] ?? 0)
      } else if (answer?.call === client.next) this.#finish(client, answer.output)
    }
  }

  #finish(client: Client, output: number): void {
    const { key, input } = client.calls[client.next]!
    const at = this.#options.cluster.nowNs
    client.history.push({ key, input, calledAt: client.calledAt!, returned: { at, output } })
    client.calledAt = undefined
    client.readFrom = undefined
    client.next += 1
    this.#process.wake()
  }
}

/** What an entry of the log says to the program. */
export function commandsOf({ flags, payload }: Entry): Command[] {
  if (flags !== 0) return []
  const lines = Buffer.from(payload).toString().split(LINE)
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Command)
}

/** Answers of an earlier call may still come. */
function tokenOf({ number, next }: Client): number {
  return number * 2 ** 20 + next
}

/** It waits for an answer, and does not think. */
function isCalling({ calledAt }: Client): boolean {
  return calledAt !== undefined && calledAt !== THINKS
}

function nothing(): void {
  return
}
