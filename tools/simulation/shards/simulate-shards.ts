import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { holdersOf, Index, IndexClient, IndexError, shardOf } from 'aether-dsm/internal/index-service'
import { openSimulatedCluster, type SimulatedCluster, type Stream } from 'aether-dsm/internal/providers'
import { checkPartitions, type EntryInput, entryModel, type HistoryCall } from '../../linearizability/index.ts'
import { ViolationError } from '../observer.ts'
import {
  callsOf,
  keysOf,
  type MoveStep,
  type NodeBlow,
  type NodeStrike,
  type PlannedCall,
  REPLICAS,
  type ShardsPlan,
  textOf,
  valueIn,
} from './shards-plan.ts'
import { type SimulatedGroup, SimulatedMembership } from './simulated-group.ts'
import { SimulatedDisks } from './simulated-journal.ts'
import { SimulatedLines } from './simulated-lines.ts'
import { INDEX, openNothing, SimulatedNode } from './simulated-node.ts'
import { SimulatedProgram } from './simulated-program.ts'
import { SimulatedReads } from './simulated-reads.ts'
import { installVirtualTime } from './virtual-time.ts'

const OPEN_MS_MAX = 200
const BEGIN_MS_MAX = 10_000
/** All that clients do, and all that goes wrong. */
const CALLS_MS_MAX = 40_000
/** From the end of all that goes wrong to the end of all moves. */
const SETTLE_MS_MAX = 20_000
const CALL_TIMEOUT_MS = 30_000
/** Of a hundred calls of a node. */
const CALLER_READS = 20
const LOOK_NS = 5_000_000
/** A blow that would be too much is tried again. */
const STRIKE_AGAIN_NS = 20_000_000
const STRIKE_TRIES = 50

interface KeyCall extends HistoryCall<EntryInput, number> {
  readonly key: string
}

export interface ShardsRunResult {
  readonly plan: ShardsPlan
  readonly violation: string | undefined
  readonly traceHash: string
  readonly events: number
  readonly virtualNs: number
  readonly calls: number
  /** How often each thing happened. */
  readonly marks: ReadonlyMap<string, number>
}

/** Play a plan: nodes of an index in virtual time, their clients, and what goes wrong. */
export async function simulateShards(plan: ShardsPlan): Promise<ShardsRunResult> {
  installVirtualTime()
  using cluster = openSimulatedCluster(plan.seed, { adapter: { tear: plan.tears / 100 } })
  const run = new ShardsRun(plan, cluster)
  const violation = await run.play()
  const { calls, marks } = run
  await run.close()
  return {
    plan,
    violation,
    traceHash: cluster.traceHash,
    events: cluster.kernel.events,
    virtualNs: cluster.nowNs,
    calls,
    marks,
  }
}

class ShardsRun {
  readonly marks: Map<string, number> = new Map<string, number>()
  readonly #plan: ShardsPlan
  readonly #cluster: SimulatedCluster
  readonly #stream: Stream
  readonly #membership = new SimulatedMembership()
  readonly #lines = new SimulatedLines()
  readonly #reads: SimulatedReads | undefined
  readonly #disks: SimulatedDisks | undefined
  /** Directories of all nodes. */
  readonly #place: string | undefined
  readonly #nodes: SimulatedNode[] = []
  readonly #history: KeyCall[] = []
  /** Changes that were not answered yet. */
  readonly #open = new Set<KeyCall>()
  /** Nodes that still have calls to make. */
  readonly #callers = new Set<SimulatedNode>()
  /** Nodes that have ended, or were told to. */
  readonly #lost = new Set<number>()
  /** The ids of their replicas. */
  readonly #lostIds = new Set<number>()
  /** Nodes that were killed and begin again. */
  #away = 0
  #directories = 0
  #hasBegun = false
  /** Shards on which as many have voted as are to. */
  readonly #whole = new Set<number>()
  /** Strikes that wait for a step. */
  #waiting: NodeStrike[] = []
  /** What is still to go wrong, or goes wrong now. */
  #troubles = 0
  #busy = 0
  #failure: unknown
  #hasRun = false
  #errors: string[] = []

  constructor(plan: ShardsPlan, cluster: SimulatedCluster) {
    this.#plan = plan
    this.#cluster = cluster
    this.#stream = cluster.kernel.stream('run')
    this.#lines.onCall = (method) => this.#mark(`asked to ${method}`)
    if (plan.oneSided) {
      this.#reads = new SimulatedReads()
      this.#reads.onRead = () => this.#mark('READs')
    }
    if (plan.disks === undefined) return
    this.#disks = new SimulatedDisks(cluster, plan.disks)
    this.#place = mkdtempSync(join(tmpdir(), 'aether-simulated-'))
  }

  get calls(): number {
    return this.#history.length
  }

  async play(): Promise<string | undefined> {
    try {
      await this.#play()
      return undefined
    } catch (error) {
      if (error instanceof ViolationError) return error.message
      return error instanceof Error ? (error.stack ?? error.message) : String(error)
    }
  }

  async close(): Promise<void> {
    for (const node of this.#nodes) if (node.program.isLive && !node.isLeaving) this.#close(node)
    const isClosed = (): boolean => this.#nodes.every(({ group }) => !this.#membership.groups.has(group.rank))
    this.#failure = undefined
    await this.#until(isClosed, 5000).catch(() => false)
    for (const node of this.#nodes) node.release()
    if (this.#place !== undefined) rmSync(this.#place, { recursive: true })
  }

  async #play(): Promise<void> {
    const { plan } = { plan: this.#plan }
    const { kernel } = this.#cluster
    this.#membership.onTell = (group, topic, value) => this.#told(group, topic, value)
    for (let count = 0; count < plan.nodes; count += 1)
      kernel.after(this.#stream.below(OPEN_MS_MAX * 1e6), () => this.#join())
    for (const atMs of plan.joins) this.#later(atMs, () => this.#join())
    for (const atMs of plan.closes) this.#later(atMs, () => this.#leave(0))
    for (const strike of plan.strikes) this.#later(strike.atMs, () => this.#arm(strike))
    if (!(await this.#until(() => this.#isOpen, BEGIN_MS_MAX)))
      throw new ViolationError(`begin: not all nodes are open after ${BEGIN_MS_MAX} ms: ${this.#describe()}`)
    this.#hasBegun = true
    for (let client = 0; client < plan.clients; client += 1) this.#play1(callsOf(plan, client))
    const callers = this.#live.slice(0, plan.callers)
    for (const [at, node] of callers.entries())
      this.#callAt(node, callsOf({ ...plan, reads: CALLER_READS }, plan.clients + at))
    const last = Math.max(0, ...plan.strikes.map(({ atMs }) => atMs))
    // A step that does not come any more is not waited for.
    kernel.at((last + 3000) * 1e6, () => {
      this.#troubles -= this.#waiting.length
      this.#waiting = []
    })
    const isDone = (): boolean =>
      this.#busy === 0 && this.#troubles === 0 && [...this.#callers].every(({ program }) => !program.isLive)
    if (!(await this.#until(isDone, CALLS_MS_MAX)))
      throw new ViolationError(
        `calls: ${this.#busy} clients are not done, ${this.#troubles} troubles; ${this.#describe()}`,
      )
    if (!(await this.#until(() => this.#isSettled, SETTLE_MS_MAX)))
      throw new ViolationError(`moves: not over after ${SETTLE_MS_MAX} ms: ${this.#describe()}`)
    const isCalm = plan.strikes.length === 0 && plan.closes.length === 0
    if (isCalm && this.#errors.length > 0) throw new ViolationError(`errors: ${this.#errors.join('; ')}`)
    const left = keysOf(plan).map((key): PlannedCall => ({ key, input: { type: 'get' } }))
    const first = this.#history.length
    this.#play1(left, 0)
    if (!(await this.#until(() => this.#busy === 0, CALLS_MS_MAX)))
      throw new ViolationError('reads: no answer in the end')
    this.#checkOrder()
    await this.#checkPlaces(this.#history.slice(first))
  }

  get #live(): SimulatedNode[] {
    return this.#nodes.filter(({ program, isLeaving }) => program.isLive && !isLeaving)
  }

  get #isOpen(): boolean {
    return this.#nodes.length >= this.#plan.nodes && this.#live.every(({ node }) => node !== undefined)
  }

  /** Each shard is held and voted on by those that are to, and by no others. */
  get #isSettled(): boolean {
    const live = this.#live
    const ranks = live.map(({ rank }) => rank)
    if (
      this.#nodes.some(
        ({ program, isLeaving, rank }) => program.isLive && isLeaving && this.#membership.groups.has(rank),
      )
    )
      return false
    return live.every(({ node, rank }) => {
      if (node === undefined) return false
      for (let shard = 0; shard < this.#plan.shards; shard += 1) {
        const holders = holdersOf(shard, ranks, REPLICAS)
        const replica = node.held.get(shard)
        if (holders.includes(rank) !== (replica !== undefined)) return false
        if (replica === undefined) continue
        const { voters, leader } = replica
        if (voters?.length !== Math.min(REPLICAS, ranks.length) || !voters.every((voter) => holders.includes(voter)))
          return false
        if (leader === undefined || !ranks.includes(leader)) return false
      }
      return true
    })
  }

  #describe(): string {
    const ranks = this.#live.map(({ rank }) => rank)
    const nodes = this.#nodes.map(({ node, rank, program, isLeaving }) => {
      if (!program.isLive || (isLeaving && !this.#membership.groups.has(rank))) return `${rank} gone`
      const held = [...(node?.held ?? [])].map(
        ([shard, { voters, leader }]) => `${shard} (voters ${voters?.join()}, leader ${leader})`,
      )
      const failures = [...(node?.failures ?? [])].map(([shard, error]) => `${shard} ${String(error)}`)
      return `${rank}${isLeaving ? ' leaves,' : ''}${node === undefined ? ' is not open' : ''} has ${held.join(' ')}${failures.length > 0 ? `, failed ${failures.join()}` : ''}`
    })
    const wanted = Array.from(
      { length: this.#plan.shards },
      (_, shard) => `${shard} at ${holdersOf(shard, ranks, REPLICAS).join()}`,
    )
    return `${nodes.join('; ')}; wanted: ${wanted.join('; ')}`
  }

  // ---- nodes
  // ---------------------------------------------------------------------------------------------------------------

  #program(): SimulatedProgram {
    return new SimulatedProgram(this.#cluster, () => {
      this.#hasRun = true
    })
  }

  /** A new node comes, or the one with that directory again. */
  #join(directory: string | undefined = this.#newDirectory()): void {
    const program = this.#program()
    const disks = this.#disks
    if (disks !== undefined) program.startJournal = (start) => disks.start(program, start)
    const group = this.#membership.join(program)
    this.#nodes.push(
      new SimulatedNode({
        ...{ program, group, directory, lines: this.#lines, reads: this.#reads },
        ...{ shards: this.#plan.shards, replicas: REPLICAS },
        onStep: (node, step) => this.#stepped(node, step),
        onFailure: (error) => {
          this.#failure ??= error
        },
      }),
    )
    this.#mark('node came')
  }

  #newDirectory(): string | undefined {
    this.#directories += 1
    return this.#place && join(this.#place, `${this.#directories}`)
  }

  /** Its process has ended. */
  #ended(program: SimulatedProgram): void {
    this.#lines.ended(program)
    this.#reads?.ended(program)
    this.#disks?.crashed(program)
  }

  /** Those of its directory, too: it may have begun again. */
  #idsOf(node: SimulatedNode): readonly number[] {
    const { directory, ids } = node
    return directory === undefined ? ids : [...ids, ...this.#disks!.idsBelow(directory)]
  }

  #lose(node: SimulatedNode): void {
    this.#lost.add(node.rank)
    for (const id of this.#idsOf(node)) this.#lostIds.add(id)
  }

  #close(node: SimulatedNode): void {
    node.close(() => {
      this.#lines.ended(node.program)
      this.#reads?.ended(node.program)
      this.#membership.ended(node.rank, 'left')
    })
  }

  #leave(tries: number): void {
    const live = this.#live.filter(({ node }) => node !== undefined)
    const node = live[this.#stream.below(live.length)]
    if (node === undefined || !this.#canLose(node)) {
      if (tries < STRIKE_TRIES)
        this.#later(this.#cluster.nowNs / 1e6 + STRIKE_AGAIN_NS / 1e6, () => this.#leave(tries + 1))
      return
    }
    this.#lose(node)
    this.#mark('node left')
    this.#close(node)
  }

  /**
   * A minority of each shard's voters is lost at most, also once the node votes on it, which may be decided just now.
   * And enough nodes are left. One that has left is not lost.
   */
  #canLose(node: SimulatedNode): boolean {
    const left = this.#live.filter((each) => each !== node)
    if (left.length < REPLICAS || this.#away > 0 || this.#live.some((each) => each.node === undefined)) return false
    const onDisks = [...left, node].flatMap(({ directory }) =>
      directory === undefined ? [] : this.#disks!.configurationsBelow(directory),
    )
    const known = [
      ...[...left, node].flatMap(({ voters }) => voters),
      ...onDisks.map(({ voters }) => voters.map(({ id }) => id)),
    ]
    const ids = this.#idsOf(node)
    return known.every((voters) => {
      const own = voters.filter((id) => ids.includes(id)).length
      const lost = voters.filter((id) => !ids.includes(id) && this.#lostIds.has(id)).length
      return (Math.max(own, 1) + lost) * 2 < voters.length + (own === 0 ? 1 : 0)
    })
  }

  // ---- what goes wrong
  // ---------------------------------------------------------------------------------------------------------------

  #later(atMs: number, what: () => void): void {
    this.#troubles += 1
    this.#cluster.kernel.at(atMs * 1e6, () => {
      this.#troubles -= 1
      what()
    })
  }

  #arm(strike: NodeStrike): void {
    if (strike.step === undefined) {
      const live = this.#live
      const node = live[strike.pick % live.length]
      if (node !== undefined) this.#hit(node, strike.blow, 'any', 0)
      return
    }
    this.#troubles += 1
    this.#waiting.push(strike)
  }

  #told(group: SimulatedGroup, topic: string, value: unknown): void {
    const node = this.#nodes.find((each) => each.group === group)
    if (node === undefined) return
    if (topic.startsWith('index/')) this.#stepped(node, 'card')
    else {
      const { type } = value as { readonly type?: unknown }
      if (type === 'hello' || type === 'bye') this.#stepped(node, type)
    }
  }

  #stepped(node: SimulatedNode, step: MoveStep): void {
    this.#mark(`step ${step}`)
    const index = this.#waiting.findIndex((strike) => strike.step === step)
    if (index < 0) return
    const [strike] = this.#waiting.splice(index, 1)
    const { blow, afterMs, isOther, pick } = strike!
    const others = this.#live.filter((each) => each !== node)
    const struck = isOther ? (others[pick % others.length] ?? node) : node
    this.#cluster.kernel.after(afterMs * 1e6, () => {
      this.#troubles -= 1
      this.#hit(struck, blow, step, 0)
    })
  }

  #hit(node: SimulatedNode, blow: NodeBlow, when: string, tries: number): void {
    const { kernel, nowNs, hosts } = this.#cluster
    const { program } = node
    if (!program.isLive || !this.#membership.groups.has(node.rank)) return
    const host = program.host.index
    if (blow.kind === 'crash') {
      if (!this.#canLose(node)) {
        const again = (): void => this.#hit(node, blow, when, tries + 1)
        if (tries < STRIKE_TRIES) this.#later((nowNs + STRIKE_AGAIN_NS) / 1e6, again)
        return
      }
      this.#lose(node)
      program.host.crash(false, 0)
      this.#ended(program)
      this.#later(nowNs / 1e6 + blow.certainMs, () => this.#membership.ended(node.rank, 'died'))
    } else if (blow.kind === 'restart' || blow.kind === 'blackout') {
      if (!this.#hasBegun) {
        if (tries < STRIKE_TRIES)
          this.#later((nowNs + STRIKE_AGAIN_NS) / 1e6, () => this.#hit(node, blow, when, tries + 1))
        return
      }
      if (blow.kind === 'restart') this.#restart(node, blow)
      else this.#blackOut(blow)
    } else if (blow.kind === 'slow disk') {
      if (node.directory !== undefined) this.#disks!.stall(node.directory, blow.forMs * 1e6)
    } else if (blow.kind === 'stall') program.stall(blow.forMs * 1e6)
    else if (blow.kind === 'pause') this.#cluster.inject({ kind: 'pause', host, atNs: nowNs, forNs: blow.forMs * 1e6 })
    else
      for (const { index } of hosts)
        for (const [from, to] of [[host, index] as const, [index, host] as const])
          if (from !== to) this.#cluster.inject({ kind: 'cut', from, to, atNs: nowNs, forNs: blow.forMs * 1e6 })
    this.#mark(`${blow.kind} at ${when}`)
    if (blow.kind === 'crash' || blow.kind === 'restart' || blow.kind === 'blackout') return
    this.#troubles += 1
    kernel.after(blow.forMs * 1e6, () => {
      this.#troubles -= 1
    })
  }

  #restart(node: SimulatedNode, { downMs, lingerMs, certainMs }: Extract<NodeBlow, { kind: 'restart' }>): void {
    const { program, directory, isLeaving } = node
    if (!program.isLive || isLeaving || directory === undefined) return
    const nowMs = this.#cluster.nowNs / 1e6
    program.host.crash(false, lingerMs * 1e6)
    this.#ended(program)
    this.#away += 1
    this.#later(nowMs + certainMs, () => this.#membership.ended(node.rank, 'died'))
    this.#later(nowMs + downMs, () => {
      this.#away -= 1
      this.#mark('node came again')
      this.#join(directory)
    })
  }

  #blackOut({ withinMs, downMs, certainMs }: Extract<NodeBlow, { kind: 'blackout' }>): void {
    const stream = this.#cluster.kernel.stream('blackouts')
    for (const node of this.#live)
      this.#later(this.#cluster.nowNs / 1e6 + stream.below(withinMs + 1), () =>
        this.#restart(node, {
          ...{ kind: 'restart', lingerMs: 0, certainMs },
          downMs: withinMs + stream.below(downMs + 1),
        }),
      )
  }

  #mark(name: string): void {
    this.marks.set(name, (this.marks.get(name) ?? 0) + 1)
  }

  // ---- clients
  // ---------------------------------------------------------------------------------------------------------------

  #play1(calls: readonly PlannedCall[], thinkMs = this.#plan.thinkMs): void {
    const program = this.#program()
    this.#busy += 1
    program.run(() => {
      this.#calls(program, calls, thinkMs)
        .catch((error: unknown) => {
          this.#failure ??= error
        })
        .finally(() => {
          this.#busy -= 1
        })
    })
  }

  /** Its program uses the index, until it ends or closes. */
  #callAt(node: SimulatedNode, calls: readonly PlannedCall[]): void {
    const { program } = node
    this.#callers.add(node)
    program.run(() => {
      this.#callsAt(node, calls)
        .catch((error: unknown) => {
          this.#failure ??= error
        })
        .finally(() => this.#callers.delete(node))
    })
  }

  async #callsAt(node: SimulatedNode, calls: readonly PlannedCall[]): Promise<void> {
    const { program } = node
    const index = new Index(INDEX, node.node!)
    for (const call of calls) {
      await program.delay(program.draws.below(Math.ceil(2 * this.#plan.thinkMs * 1e6)))
      if (node.isLeaving) return
      await this.#call(index, call)
      this.#mark('called at a node')
    }
  }

  #clientOf(program: SimulatedProgram): IndexClient {
    const places = () => this.#nodes.flatMap(({ node, program }) => (program.isLive && node?.beyond) || [])
    const connect = this.#lines.connectorOf(program)
    const openReads = this.#reads?.openerOf(program) ?? openNothing
    const machine = `host-${program.host.index}`
    return new IndexClient({ name: INDEX, inFlightMax: 64, machine, connect, openReads, places })
  }

  async #calls(program: SimulatedProgram, calls: readonly PlannedCall[], thinkMs: number): Promise<void> {
    const client = this.#clientOf(program)
    await client.begin({ timeoutMs: CALL_TIMEOUT_MS, signal: undefined })
    const index = new Index(INDEX, client)
    for (const call of calls) {
      await program.delay(program.draws.below(Math.ceil(2 * thinkMs * 1e6)))
      await this.#call(index, call)
    }
    await client.close()
  }

  async #call(index: Index, { key, input }: PlannedCall): Promise<void> {
    const calledAt = this.#cluster.nowNs
    const open: KeyCall = { key, input, calledAt, returned: undefined }
    if (input.type !== 'get') this.#open.add(open)
    try {
      const output = await outputOf(this.#plan, index, key, input)
      this.#history.push({ key, input, calledAt, returned: { at: this.#cluster.nowNs, output } })
      this.#mark(`answered ${input.type}`)
    } catch (error) {
      if (!(error instanceof IndexError)) throw error
      this.#mark(`${error.kind} ${input.type === 'get' ? 'read' : error.outcome}`)
      this.#errors.push(`${input.type} of ${key}: ${error.message}`)
      if (input.type !== 'get' && error.outcome !== 'not-applied') this.#history.push(open)
    } finally {
      this.#open.delete(open)
    }
  }

  // ---- what must hold
  // ---------------------------------------------------------------------------------------------------------------

  #checkOrder(): void {
    for (const [key, { verdict }] of checkPartitions(entryModel, [...this.#history, ...this.#open], (call) => call.key))
      if (verdict !== 'linearizable') throw new ViolationError(`order: calls of ${key}: ${verdict}`)
  }

  /** Once all vote that are to, there are fewer only for those that were lost. */
  #checkVoters(): void {
    for (const { node, rank } of this.#live)
      for (const [shard, { voters = [] }] of node?.held ?? []) {
        if (voters.length >= REPLICAS) this.#whole.add(shard)
        if (this.#whole.has(shard) && voters.length < REPLICAS - this.#lost.size)
          throw new ViolationError(
            `voters: of shard ${shard}, node ${rank} knows ${voters.join()}, and lost are ${[...this.#lost].join()}`,
          )
      }
  }

  /** Each key is in its shard, at each node that holds it, and in no other. */
  async #checkPlaces(reads: readonly KeyCall[]): Promise<void> {
    const there = reads.filter(({ returned }) => returned !== undefined && returned.output !== 0).map(({ key }) => key)
    const { shards } = this.#plan
    const limits = { timeoutMs: CALL_TIMEOUT_MS, signal: undefined }
    for (const { node, program, rank } of this.#live)
      for (let shard = 0; shard < shards; shard += 1) {
        const expected = there.filter((key) => shardOf(Buffer.from(key), shards) === shard).sort()
        let found: string | undefined
        program.run(() => {
          node!
            .shard(shard)
            .read([{ name: 'KEYS', args: [Buffer.from('*')] }], limits)
            .then(([keys]) => {
              found = (keys as Uint8Array[])
                .map((key) => Buffer.from(key).toString())
                .sort()
                .join()
            })
            .catch((error: unknown) => {
              found = String(error)
            })
        })
        await this.#until(() => found !== undefined, CALLS_MS_MAX)
        if (found !== expected.join())
          throw new ViolationError(`places: node ${rank} finds ${found} in shard ${shard}, and not ${expected.join()}`)
      }
  }

  /** Let time pass. False if that is not so in time. */
  async #until(isSo: () => boolean, timeoutMs: number): Promise<boolean> {
    const { kernel } = this.#cluster
    const endNs = kernel.nowNs + timeoutMs * 1e6
    let lookedNs = Number.NEGATIVE_INFINITY
    for (;;) {
      if (this.#failure !== undefined) throw this.#failure
      if (kernel.nowNs - lookedNs >= LOOK_NS) {
        lookedNs = kernel.nowNs
        this.#checkVoters()
        if (isSo()) return true
      }
      if (kernel.nextNs > endNs || !kernel.step()) return isSo()
      if (!this.#hasRun) continue
      this.#hasRun = false
      // What promises lead to belongs to this moment.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
}

async function outputOf(plan: ShardsPlan, index: Index, key: string, input: EntryInput): Promise<number> {
  const options = { timeoutMs: CALL_TIMEOUT_MS }
  switch (input.type) {
    case 'get':
      return valueIn(await index.getText(key, options))
    case 'set':
      return Number(await index.set(key, textOf(plan, input.value), options))
    case 'setIfAbsent':
      return Number(await index.set(key, textOf(plan, input.value), { ...options, ifAbsent: true }))
    case 'delete':
      return Number(await index.delete(key))
    case 'compareAndSet':
      throw new Error('no client does that')
  }
}
