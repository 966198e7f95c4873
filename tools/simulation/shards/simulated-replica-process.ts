import {
  ByteRing,
  createReplicaMachine,
  Demand,
  type ReplicaPort,
  type ReplicaProcessOptions,
} from 'aether-dsm/internal/consensus'
import type { SimulatedProcess } from 'aether-dsm/internal/providers'
import { Random, Timers } from 'aether-dsm/internal/runtime'
import type { MemoryRegion } from 'aether-dsm/internal/verbs'
import type { SimulatedJournal } from './simulated-journal.ts'
import type { SimulatedProgram } from './simulated-program.ts'

type Note =
  Parameters<ReplicaProcessOptions['onSay']> extends [infer To, infer Card]
    ?
        | { readonly type: 'say'; readonly to: To; readonly card: Card }
        | ({ readonly type: 'restore'; readonly number: number } & NonNullable<ReturnType<ReplicaPort['takeRestore']>>)
    : never

interface Command {
  readonly name: string
  readonly payload: unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

const RING_BYTES = 2 ** 18
const SLEEP_NS_MAX = 50_000_000

/** A replica in a thread of its own, on the host of its program: the agent that real threads run. */
export class SimulatedReplicaProcess implements ReplicaPort {
  /** Called with the name of each command, before it is carried out. */
  onCommand: (name: string) => void = () => undefined
  /** Called with each replica of which its program says that it has ended. */
  onEnded: (id: number) => void = () => undefined
  readonly #program: SimulatedProgram
  readonly #options: ReplicaProcessOptions
  readonly #toAgent = new ByteRing(RING_BYTES)
  readonly #toProgram = new ByteRing(RING_BYTES)
  readonly #timers = new Timers()
  readonly #machine: ReturnType<typeof createReplicaMachine>
  readonly #process: SimulatedProcess
  readonly #journal: SimulatedJournal | undefined
  readonly #restores = new Map<number, NonNullable<ReturnType<ReplicaPort['takeRestore']>>>()
  readonly #unsent: Uint8Array[] = []
  #commands: Command[] = []
  #cancelWaits: (() => void)[] = []
  #looksSoon = false
  #closed = false

  constructor(program: SimulatedProgram, options: ReplicaProcessOptions) {
    this.#program = program
    this.#options = options
    const { onNews: _onNews, onSay: _onSay, isLocal: _isLocal, snapshot: _snapshot, ...rest } = options
    // Acceptors of both kinds vote together.
    const protocol = program.host.index % 2 === 0 ? ('velos' as const) : ('mu' as const)
    const data = { ...rest, protocol, toAgent: this.#toAgent.buffer, toProgram: this.#toProgram.buffer, bell: -1 }
    const { cluster } = program
    const context = {
      runtime: {
        now: () => cluster.nowNs,
        timers: this.#timers,
        random: new Random(program.draws.below(2 ** 31)),
      },
      notify: (note: unknown) => {
        // As between threads.
        const copy = structuredClone(note) as Note
        program.run(() => this.#noted(copy))
      },
      exit: (_code: number, message: string): never => {
        throw new Error(message)
      },
    }
    this.#machine = createReplicaMachine(context, data)
    this.#process = program.host.spawn(() => program.as(() => this.#run()))
    this.#journal = program.journals.find(({ id, isOver }) => id === options.id && !isOver)
    if (this.#journal !== undefined) {
      this.#journal.bell = options.journal!.bell
      this.#journal.onSynced = () => this.#process.wake()
    }
    this.#process.wake()
  }

  get id(): number {
    return this.#options.id
  }

  /** What others reach of it. */
  get region(): MemoryRegion {
    return this.#machine.region
  }

  /** What it says of itself now. */
  get voters(): readonly number[] | undefined {
    let voters: readonly number[] | undefined
    const resolve = (status: unknown): void => {
      const { configuration } = status as Awaited<ReturnType<ReplicaPort['status']>>
      voters = configuration?.voters.map(({ id }) => id)
    }
    if (!this.#closed) this.#machine.command('status', undefined, { resolve, reject: () => undefined })
    return voters
  }

  takeRestore(number: number): ReturnType<ReplicaPort['takeRestore']> {
    const restore = this.#restores.get(number)
    this.#restores.delete(number)
    return restore
  }

  expect(): void {
    return
  }

  unexpect(): void {
    return
  }

  propose(records: Uint8Array): void {
    if (this.#closed) return
    if (this.#unsent.length > 0 || !this.#toAgent.push(Demand.Propose, records)) this.#unsent.push(records.slice())
    this.#process.wake()
  }

  /** Only a replica in the thread of its program decides at once. */
  pass(): undefined {
    return undefined
  }

  askIndex(token: number): boolean {
    if (this.#closed || !this.#toAgent.push(Demand.AskIndex, numbers(token))) return false
    this.#process.wake()
    return true
  }

  checked(number: number, hash: number): void {
    if (!this.#closed) this.#toAgent.push(Demand.Checked, numbers(number, hash))
  }

  found(...given: Parameters<ReplicaPort['found']>): void {
    this.#tell('found', given[0])
  }

  restarted(id: number): void {
    this.#tell('restarted', id)
  }

  meet(...given: Parameters<ReplicaPort['meet']>): void {
    this.#tell('meet', given[0])
  }

  hear(...given: Parameters<ReplicaPort['hear']>): void {
    this.#tell('hear', given[0])
  }

  ended(id: number): void {
    this.onEnded(id)
    this.#tell('ended', id)
  }

  async addToSnapshot(part: Uint8Array, index: number, isFirst: boolean): Promise<void> {
    await this.#command('addToSnapshot', { part, index, isFirst })
  }

  async offerSnapshot(index: number, first: Uint8Array): Promise<boolean> {
    return (await this.#command('offerSnapshot', { index, first })) as boolean
  }

  async transfer(id: number): Promise<boolean> {
    return (await this.#command('transfer', id)) as boolean
  }

  async leave(timeoutMs: number, isPatient = false): Promise<boolean> {
    if (this.#closed) return true
    const late = this.#program.delay(timeoutMs * 1e6).then(() => false)
    return await Promise.race([this.#command('leave', isPatient).then(() => true), late])
  }

  stay(): void {
    this.#tell('stay', undefined)
  }

  async status(): ReturnType<ReplicaPort['status']> {
    return (await this.#command('status', undefined)) as Awaited<ReturnType<ReplicaPort['status']>>
  }

  /** No memory of it is read otherwise than by its device. */
  async sight(): ReturnType<ReplicaPort['sight']> {
    return undefined
  }

  look(): boolean {
    return !this.#closed && this.#toProgram.drain((kind, bytes) => this.#options.onNews(kind, bytes))
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    for (const cancel of this.#cancelWaits.splice(0)) cancel()
    this.#machine.close()
    for (const { reject } of this.#commands.splice(0)) reject(new Error('the agent is closed'))
  }

  #tell(name: string, payload: unknown): void {
    this.#command(name, payload).catch(() => undefined)
  }

  #command(name: string, payload: unknown): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error('the agent is closed'))
    this.onCommand(name)
    return new Promise((resolve, reject) => {
      this.#commands.push({ name, payload, resolve, reject })
      this.#process.wake()
    })
  }

  // ---- the thread of the replica
  // ---------------------------------------------------------------------------------------------------------------

  #run(): void {
    if (this.#closed) return
    for (const cancel of this.#cancelWaits.splice(0)) cancel()
    do while (this.#turn());
    while (!this.#machine.prepareSleep())
    this.#journal?.look()
    const { host, cluster } = this.#program
    const bell = this.#options.journal?.bell
    this.#cancelWaits = this.#machine.descriptors.flatMap((descriptor) =>
      descriptor === bell ? [] : host.whenReadable(descriptor, () => this.#process.wake()),
    )
    this.#process.wakeAt(Math.min(this.#timers.nextNs, cluster.nowNs + SLEEP_NS_MAX))
    if (!this.#toProgram.isEmpty || this.#unsent.length > 0) this.#lookSoon()
  }

  #turn(): boolean {
    const commands = this.#commands.splice(0)
    for (const { name, payload, resolve, reject } of commands)
      this.#machine.command(name, payload, {
        resolve: (value) => this.#program.run(() => resolve(value)),
        reject: (error) => this.#program.run(() => reject(error)),
      })
    const due = this.#timers.runDue(this.#program.cluster.nowNs)
    return this.#machine.turn() || due || commands.length > 0
  }

  // ---- that of the program
  // ---------------------------------------------------------------------------------------------------------------

  #lookSoon(): void {
    if (this.#looksSoon) return
    this.#looksSoon = true
    this.#program.run(() => {
      this.#looksSoon = false
      if (this.#closed) return
      while (this.#unsent.length > 0 && this.#toAgent.push(Demand.Propose, this.#unsent[0]!)) this.#unsent.shift()
      this.look()
      this.#process.wake()
    })
  }

  #noted(note: Note): void {
    if (this.#closed) return
    if (note.type === 'say') this.#options.onSay(note.to, note.card)
    else {
      this.#restores.set(note.number, note)
      this.#lookSoon()
    }
  }
}

function numbers(...values: readonly number[]): Uint8Array {
  return new Uint8Array(Float64Array.from(values).buffer)
}
