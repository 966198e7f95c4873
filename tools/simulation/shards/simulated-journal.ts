import { EventEmitter } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { receiveMessageOnPort } from 'node:worker_threads'
import {
  type Configuration,
  checksumPayloads,
  contentsOf,
  IDENTITY_FILE,
  type JournalPart,
  type JournalReport,
  type JournalStart,
  type Recovered,
  sealRecords,
  segmentHead,
} from 'aether-dsm/internal/consensus'
import { native } from 'aether-dsm/internal/native'
import type { SimulatedCluster, Stream } from 'aether-dsm/internal/providers'
import { type DiskPlan, SimulatedDisk } from '../replicas/simulated-disk.ts'

const OPEN_NS_MAX = 5_000_000
const LOOK_NS = 500_000

/** What a directory holds, whichever process has it open. */
interface Kept {
  id: number
  disk: SimulatedDisk
  user: SimulatedJournal | undefined
}

/** The program that starts a journal's thread. */
interface JournalProgram {
  readonly cluster: SimulatedCluster
  readonly isLive: boolean
  readonly journals: SimulatedJournal[]
  run(what: () => void): void
}

/** The disks of all nodes, by the directories of their logs. They outlive processes. */
export class SimulatedDisks {
  readonly #kept = new Map<string, Kept>()
  readonly #cluster: SimulatedCluster
  readonly #plan: DiskPlan
  readonly #stream: Stream

  constructor(cluster: SimulatedCluster, plan: DiskPlan) {
    this.#cluster = cluster
    this.#plan = plan
    this.#stream = cluster.kernel.stream('disks')
  }

  /** What the thread does that a program starts for a journal. */
  start(program: JournalProgram, start: JournalStart): SimulatedJournal {
    const journal = new SimulatedJournal(program, start)
    program.cluster.kernel.after(this.#stream.between(LOOK_NS, OPEN_NS_MAX), () => {
      if (program.isLive) journal.open(this.#open(journal, start.directory))
    })
    return journal
  }

  /** The process has ended: what was not on its disks may be lost. */
  crashed(program: JournalProgram): void {
    for (const kept of this.#kept.values()) {
      if (kept.user?.program !== program) continue
      kept.disk.crash()
      kept.user = undefined
    }
  }

  /** Nothing comes to the disks below that directory for a while. */
  stall(directory: string, forNs: number): void {
    for (const { disk } of this.#below(directory)) disk.stall(forNs)
  }

  /** The replicas whose logs are below that directory. */
  idsBelow(directory: string): readonly number[] {
    return this.#below(directory).map(({ id }) => id)
  }

  /** The voters that those know who begin again from there. */
  configurationsBelow(directory: string): readonly Configuration[] {
    return this.#below(directory).flatMap(({ disk }) => disk.configuration ?? [])
  }

  #below(directory: string): readonly Kept[] {
    return [...this.#kept].flatMap(([path, kept]) => (`${path}/`.startsWith(`${directory}/`) ? [kept] : []))
  }

  /** Undefined if another has it open. Where no voters are known, it begins as a new one: see `DiskLog`. */
  #open(journal: SimulatedJournal, directory: string): Kept | undefined {
    const before = this.#kept.get(directory)
    if (before?.user !== undefined && !before.user.isOver) return undefined
    if (before?.disk.configuration !== undefined) {
      before.user = journal
      return before
    }
    const { kernel } = this.#cluster
    const id = 1 + this.#stream.below(2 ** 24) * 2 ** 23 + this.#stream.below(2 ** 23)
    const kept = { id, disk: new SimulatedDisk(this.#plan, kernel, kernel.stream(`disk ${id}`)), user: journal }
    this.#kept.set(directory, kept)
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, IDENTITY_FILE), '')
    return kept
  }
}

/** In the place of the thread that writes a replica's log: a disk in virtual time. */
export class SimulatedJournal extends EventEmitter {
  readonly program: JournalProgram
  /** Of the replica; undefined until it is open. */
  id: number | undefined
  /** The lock is free, and its program closes the bell. */
  isOver = false
  /** The end of the bell that its reader has. */
  bell: number | undefined
  /** More is on the disk. */
  onSynced: () => void = () => undefined
  readonly #start: JournalStart
  #kept: Kept | undefined
  #isClosing = false

  constructor(program: JournalProgram, start: JournalStart) {
    super()
    this.program = program
    this.#start = start
    program.journals.push(this)
  }

  unref(): this {
    return this
  }

  postMessage(): void {
    this.#isClosing = true
    this.#endSoon()
  }

  terminate(): void {
    this.#kept?.disk.crash()
    this.#end()
  }

  open(kept: Kept | undefined): void {
    if (this.isOver) return
    if (kept === undefined) {
      const message = `the log ${this.#start.directory} is open already`
      this.#report({ type: 'failed', error: { kind: 'LOG_IN_USE', message, file: undefined, offset: undefined } })
      this.#end()
      return
    }
    const { id, disk } = kept
    this.#kept = kept
    this.id = id
    disk.onSynced = (records) => {
      this.#start.port.postMessage(records)
      this.onSynced()
    }
    this.#report({ type: 'opened', id, recovered: copyOf(disk.recovered()) })
  }

  /** Take what the replica has recorded. */
  look(): void {
    if (this.#kept === undefined || this.isOver) return
    const { disk } = this.#kept
    for (
      let got = receiveMessageOnPort(this.#start.port);
      got !== undefined;
      got = receiveMessageOnPort(this.#start.port)
    )
      for (const part of got.message as readonly JournalPart[])
        if (part instanceof Uint8Array) record(disk, Buffer.from(part))
        else disk.snapshot(part.head, ...part.parts)
    disk.flush()
  }

  /** What a process had that was killed. */
  release(): void {
    this.#start.port.close()
    if (this.isOver) return
    native.closeDescriptor(this.#start.bell)
    if (this.bell !== undefined) native.closeDescriptor(this.bell)
  }

  #endSoon(): void {
    if (this.isOver || !this.program.isLive) return
    this.look()
    if (this.#kept?.disk.isIdle === false) this.program.cluster.kernel.after(LOOK_NS, () => this.#endSoon())
    else this.#end()
  }

  #end(): void {
    if (this.isOver) return
    this.program.run(() => {
      this.isOver = true
      if (this.#kept?.user === this) this.#kept.user = undefined
      this.emit('exit', 0)
    })
  }

  #report(report: JournalReport): void {
    this.program.run(() => {
      if (!this.#isClosing) this.emit('message', report)
    })
  }
}

/** As the disk of production has them. */
function record(disk: SimulatedDisk, records: Buffer): void {
  const { indexes } = checksumPayloads(records)
  sealRecords(records, 0)
  const { records: entries } = contentsOf(Buffer.concat([segmentHead(0), records]))
  if (entries.length !== indexes.length) throw new Error(`${indexes.length} records are read as ${entries.length}`)
  for (const entry of entries)
    if (entry.index === 0) disk.promise(entry.acceptedIn)
    else disk.append(entry)
}

/** Memory of its own: that of a snapshot is given on. */
function copyOf({ promise, decided, snapshot, entries }: Recovered): Recovered {
  return {
    promise,
    decided,
    snapshot: snapshot && { head: snapshot.head, bytes: snapshot.bytes.slice() },
    entries: entries.map((entry) => ({ ...entry, payload: entry.payload.slice() })),
  }
}
