/**
 * The machine that the agent of a group runs: the group's own part, and a {@link RegionServer} for each coherent
 * region. Loaded by its URL in the agent.
 */
import process from 'node:process'
import {
  type GroupAgentData,
  GroupMachine,
  type GroupPeer,
  type LockMode,
  MeshChannel,
  type ProfilingPlace,
  type RegistryAnswer,
} from '../../cluster/index.ts'
import { AetherError, FaultAnswer, native } from '../../native/index.ts'
import { shareThreadProfiling, WaitTable } from '../../profiling/index.ts'
import type { AgentContext, Machine, MachineFactory, Reply } from '../../runtime/index.ts'
import { type AdviceQuestion, gatherAdvice, isAdviceQuestion } from '../advice/gathering.ts'
import {
  type CoherenceMessage,
  MessageKind,
  protocols,
  type RecoveryMessage,
  UnopenedRegion,
} from '../coherence/index.ts'
import { ExplicitMmu } from '../mmu/explicit-mmu.ts'
import type { Mmu } from '../mmu/mmu.ts'
import type { PageWords } from '../mmu/page-words.ts'
import { pageAtAddress, UserfaultMmu } from '../mmu/userfault-mmu.ts'
import type { WindowTable } from '../mmu/window-table.ts'
import { Observation } from '../observation/index.ts'
import { RECORD_VARIABLE } from '../recording/index.ts'
import {
  ALLOCATION_KEEPER,
  AllocationKeeper,
  type AllocationQuestion,
  isAllocationQuestion,
} from './allocation-keeper.ts'
import { CoherenceCodec } from './coherence-channel.ts'
import { CommandWaits } from './command-waits.ts'
import { DemandRing } from './demand-ring.ts'
import { FaultLane, type ReadFault } from './fault-lane.ts'
import { decodeHomeMessage } from './home-claims.ts'
import { PageWaits } from './page-waits.ts'
import type { PageRange } from './readahead.ts'
import { decodeRecovery, encodeRecovery } from './recovery-channel.ts'
import type { RegionPlan } from './region-plan.ts'
import { type PageKnowledge, RegionServer } from './region-server.ts'
import { decodeReplica, encodeKept, type ReplicaMessage } from './replica-channel.ts'
import { ReplicaStore } from './replica-store.ts'

/** What the agent of a group with regions is started with. */
export interface RegionAgentData extends GroupAgentData {
  readonly demands: SharedArrayBuffer
  /** The process's userfaultfd, or -1 where there is none. */
  readonly userfault: number
}

/** The requester of messages that have none. */
const NOBODY = -1
const KINDS: ReadonlySet<number> = new Set(Object.values(MessageKind))

/** Answer of the command `openRegion`. */
export type OpenRegionReply = RegistryAnswer

class RegionAgentMachine implements Machine {
  readonly #context: AgentContext
  readonly #data: RegionAgentData
  readonly #group: GroupMachine
  readonly #demands: DemandRing
  readonly #servers = new Map<number, RegionServer>()
  /** Messages for regions that this rank has not opened yet. */
  readonly #early = new Map<number, ((server: RegionServer) => void)[]>()
  /** Regions that this rank has not opened, and that recovered from a death. */
  readonly #unopened = new Map<number, UnopenedRegion>()
  /** What this rank keeps of pages of others, also of regions that it has not opened. */
  readonly #replicas = new Map<number, ReplicaStore>()
  /** Regions that no rank has open any more, but with messages still under way. */
  readonly #freed = new Set<number>()
  /** Regions that are closed for good: their numbers do not come again. */
  readonly #forgotten = new Set<number>()
  readonly #allocations = new AllocationKeeper()
  readonly #commandWaits = new CommandWaits((id) => this.#servers.get(id)?.plan.name)
  readonly #codec = new CoherenceCodec()
  /** Undefined where there are no views. */
  readonly #lane: FaultLane | undefined
  readonly #observation: Observation

  /** What the main thread may ask for. Its payloads come from this package's own code. */
  readonly #commands: Readonly<Record<string, (payload: unknown, reply: Reply) => void>> = {
    endpoints: (_, reply) => reply.resolve(this.#group.endpoints()),
    connect: (peers, reply) => reply.resolve(this.#group.connect(peers as GroupPeer[])),
    leave: (_, reply) => this.#group.leave(reply),
    tell: (told, reply) => reply.resolve(this.#tell(told as { rank: number; topic: string; value: unknown })),
    lock: (wanted, reply) => this.#lock(wanted as { token: number; name: string; mode: LockMode }, reply),
    unlock: (own, reply) => reply.resolve(this.#unlock(own as { token: number; had: boolean })),
    openRegion: (region, reply) => this.#openRegion(region as { plan: RegionPlan; parameters: string }, reply),
    lookUpRegion: (name, reply) => this.#lookUp(name as string, reply),
    closeWindows: (id, reply) => reply.resolve(this.#servers.get(id as number)?.windows.clear()),
    closeRegion: (name, reply) => this.#group.closeRegion(name as string, () => reply.resolve(undefined)),
    fence: (id, reply) => this.#fence(id as number, reply),
    giveUp: (range, reply) => this.#giveUp(range as { id: number } & PageRange, reply),
    allocation: (question, reply) => this.#askForAllocation(question as AllocationQuestion, reply),
    memoryUse: (id, reply) => reply.resolve(this.#servers.get(id as number)?.memoryUse()),
    failure: (page, reply) => this.#explainFailure(page as { id: number; page: number }, reply),
    advice: (id, reply) => this.#gatherAdvice(id as number, reply),
    page: (page, reply) => this.#describePage(page as { id: number; page: number }, reply),
    waits: (_, reply) => this.#group.watch.survey((waits) => reply.resolve(waits)),
  }

  constructor(context: AgentContext, data: RegionAgentData) {
    this.#context = context
    this.#data = data
    this.#demands = new DemandRing(data.demands)
    shareThreadProfiling(mapped(data.profiling), 0, data.profiling.lengthBytes)
    this.#observation = new Observation(data.watching, data.group.rank, data.group.size)
    this.#group = new GroupMachine(context, data.group, new WaitTable(mapped(data.waits)))
    try {
      this.#lane = data.userfault < 0 ? undefined : new FaultLane(data.userfault)
    } catch (error) {
      this.#group.close()
      throw error
    }
    this.#group.watch.add(new PageWaits(this.#servers))
    this.#group.watch.add(this.#commandWaits)
    this.#group.listen({
      message: (from, bytes) => this.#receive(from, bytes),
      memberDied: (rank) => {
        for (const server of this.#servers.values()) {
          // What a page's home is, and whether the page is lost, is for recovery to say from now on.
          this.#lane?.close(server.id)
          server.memberDied(rank)
        }
        for (const store of this.#replicas.values()) store.memberDied(rank)
      },
      viewChanged: (view) => {
        for (const region of [...this.#servers.values(), ...this.#unopened.values()]) region.viewChanged(view)
      },
      regionFree: (id) => this.#free(id),
      answer: (question) => this.#answer(question),
    })
  }

  get descriptors(): readonly number[] {
    return this.#group.descriptors
  }

  poll(descriptors: Int32Array, ready: Int32Array, count: number, timeoutMs: number): void {
    if (this.#lane === undefined) native.poll(descriptors, ready, count, timeoutMs)
    else this.#lane.poll(descriptors, ready, count, timeoutMs)
  }

  awoke(): void {
    this.#tellOfFaults()
  }

  turn(): boolean {
    let any = this.#group.turn()
    any = this.#takeFaults() || any
    any = this.#demands.drain((region, page, write) => this.#servers.get(region)?.demand(page, write, 0)) > 0 || any
    for (const server of this.#servers.values()) server.retryPinned()
    for (const id of this.#freed) this.#closeIfQuiescent(id)
    any = this.#observation.turn() || any
    return any
  }

  prepareSleep(): boolean {
    for (const server of this.#servers.values()) server.flushRecording()
    return this.#group.prepareSleep()
  }

  command(name: string, payload: unknown, reply: Reply): void {
    const command = this.#commands[name]
    if (command === undefined) reply.reject(new AetherError('ERR_AETHER_AGENT', `the agent has no command '${name}'`))
    else command(payload, this.#commandWaits.during(name, payload, reply))
  }

  close(): void {
    for (const server of this.#servers.values()) server.close(false)
    this.#observation.close()
    this.#group.close()
  }

  #lock({ token, name, mode }: { token: number; name: string; mode: LockMode }, reply: Reply): void {
    this.#group.locks.want(token, name, mode, (outcome) => reply.resolve(outcome))
  }

  #unlock({ token, had }: { token: number; had: boolean }): void {
    this.#group.locks.release(token, had)
  }

  #tell({ rank, topic, value }: { rank: number; topic: string; value: unknown }): void {
    this.#group.tell(rank, topic, value)
  }

  #askForAllocation(question: AllocationQuestion, reply: Reply): void {
    if (this.#data.group.rank === ALLOCATION_KEEPER) reply.resolve(this.#allocations.answer(question))
    else this.#group.ask(ALLOCATION_KEEPER, question, (outcome) => reply.resolve(outcome))
  }

  #giveUp({ id, ...range }: { id: number } & PageRange, reply: Reply): void {
    const server = this.#servers.get(id)
    if (server === undefined) reply.reject(new AetherError('ERR_AETHER_AGENT', `there is no region ${id} here`))
    else server.giveUp(range, () => reply.resolve(undefined))
  }

  #fence(id: number, reply: Reply): void {
    const server = this.#servers.get(id)
    if (server === undefined) reply.reject(new AetherError('ERR_AETHER_AGENT', `there is no region ${id} here`))
    else server.fence(() => reply.resolve(undefined))
  }

  #openRegion({ plan, parameters }: { plan: RegionPlan; parameters: string }, reply: Reply): void {
    this.#group.openRegion(plan.name, parameters, (answer) => {
      if (answer.kind !== 'opened') reply.resolve(answer)
      else
        this.#whenInOrder(answer.id, () => {
          this.#serve(answer.id, plan, answer.ended)
          reply.resolve(answer)
        })
    })
  }

  /** The parameters of a region that exists, without opening it. */
  #lookUp(name: string, reply: Reply): void {
    this.#group.lookUpRegion(name, (answer) => reply.resolve(answer))
  }

  #whenInOrder(id: number, then: () => void): void {
    const unopened = this.#unopened.get(id)
    if (unopened === undefined) then()
    else unopened.whenIdle(then)
  }

  #serve(id: number, plan: RegionPlan, ended: readonly number[]): void {
    if (this.#servers.has(id)) return
    const { view } = this.#group
    const unopened = this.#unopened.get(id)
    this.#unopened.delete(id)
    const protocol = protocols.get(plan.coherence)
    if (protocol === undefined) throw new AetherError('ERR_AETHER_AGENT', `there is no protocol '${plan.coherence}'`)
    const server = new RegionServer({
      id,
      plan,
      ended,
      protocol,
      mesh: this.#group.mesh,
      view,
      recovered: view.epoch === 0 ? 0 : (unopened?.recovered ?? -1),
      heirs: unopened?.heirs,
      runtime: this.#context.runtime,
      replicas: this.#replicasOf(id),
      observation: this.#observation,
      makeMmu: (windows, words, pageBytes) => this.#makeMmu(windows, words, pageBytes),
      recordTo: process.env[RECORD_VARIABLE] || undefined,
    })
    this.#servers.set(id, server)
    if (this.#lane !== undefined && this.#isWhole()) server.openLane(this.#lane)
    for (const handle of this.#early.get(id) ?? []) handle(server)
    this.#early.delete(id)
  }

  /** No rank has ended or left yet. */
  #isWhole(): boolean {
    const { mesh } = this.#group
    return Array.from({ length: mesh.size }, (_, rank) => rank).every((rank) => mesh.isAlive(rank))
  }

  #makeMmu(windows: WindowTable, words: PageWords, pageBytes: number): Mmu {
    const { userfault } = this.#data
    return userfault < 0 ? new ExplicitMmu() : new UserfaultMmu({ userfault, windows, words, pageBytes })
  }

  #receive(from: number, bytes: Uint8Array): void {
    if (bytes[0] === MeshChannel.Coherence) this.#receiveCoherence(from, bytes)
    else if (bytes[0] === MeshChannel.Homes) this.#receiveHome(from, bytes)
    else if (bytes[0] === MeshChannel.Recovery) this.#receiveRecovery(from, bytes)
    else if (bytes[0] === MeshChannel.Replicas) this.#receiveReplica(from, bytes)
    else this.#group.mesh.reject(from)
  }

  #receiveCoherence(from: number, bytes: Uint8Array): void {
    const decoded = this.#codec.decode(from, bytes)
    if (decoded === undefined || !this.#isPlausible(decoded.message)) {
      this.#group.mesh.reject(from)
      return
    }
    const { region, message, epoch } = decoded
    this.#handle(region, (server) => {
      if (server.isFor(message)) server.receive(message, epoch)
      else this.#group.mesh.reject(from)
    })
  }

  #receiveHome(from: number, bytes: Uint8Array): void {
    const message = decodeHomeMessage(bytes, this.#data.group.size)
    if (message === undefined) this.#group.mesh.reject(from)
    else
      this.#handle(message.region, (server) => {
        if (!server.has(message.page) || !server.receiveHome(from, message)) this.#group.mesh.reject(from)
      })
  }

  #receiveRecovery(from: number, bytes: Uint8Array): void {
    const decoded = decodeRecovery(bytes)
    if (decoded === undefined) {
      this.#group.mesh.reject(from)
      return
    }
    const { region, message } = decoded
    const server = this.#servers.get(region)
    if (server !== undefined && !pagesOf(message).every((page) => server.has(page))) {
      this.#group.mesh.reject(from)
      return
    }
    const part = server ?? this.#unopened.get(region) ?? this.#newUnopened(region)
    part.receiveRecovery(from, message)
  }

  #receiveReplica(from: number, bytes: Uint8Array): void {
    const message = decodeReplica(bytes)
    // No rank needs it any more, and its sender waits to hear that it is kept.
    if (message !== undefined && this.#forgotten.has(message.region)) this.#answerLate(from, message)
    else if (message?.kind === 'kept') this.#servers.get(message.region)?.replicaKept(from, message.token)
    else if (message === undefined || !this.#replicasOf(message.region).receive(from, message))
      this.#group.mesh.reject(from)
  }

  #answerLate(from: number, message: ReplicaMessage): void {
    if ('total' in message && message.offset + message.bytes.length === message.total)
      this.#group.mesh.send(from, encodeKept(message.region, message.token))
  }

  #replicasOf(region: number): ReplicaStore {
    let store = this.#replicas.get(region)
    if (store === undefined) {
      store = new ReplicaStore(region, (to, bytes) => this.#group.mesh.send(to, bytes))
      this.#replicas.set(region, store)
    }
    return store
  }

  #newUnopened(region: number): UnopenedRegion {
    const { mesh, view } = this.#group
    const unopened = new UnopenedRegion(mesh.rank, view, (to, message) => {
      for (const bytes of encodeRecovery(region, message)) mesh.send(to, bytes)
    })
    this.#unopened.set(region, unopened)
    return unopened
  }

  /** At once, or when this rank opens the region. */
  #handle(region: number, handle: (server: RegionServer) => void): void {
    const server = this.#servers.get(region)
    if (server !== undefined) handle(server)
    else this.#early.set(region, [...(this.#early.get(region) ?? []), handle])
  }

  #isPlausible({ kind, page, requester }: CoherenceMessage): boolean {
    return KINDS.has(kind) && page >= 0 && requester >= NOBODY && requester < this.#data.group.size
  }

  #takeFaults(): boolean {
    this.#lane?.read()
    return this.#tellOfFaults()
  }

  #tellOfFaults(): boolean {
    return this.#lane?.tell((fault) => this.#fault(fault)) ?? false
  }

  #fault(fault: ReadFault): void {
    const { address, write } = fault
    for (const server of this.#servers.values()) {
      const page = pageAtAddress(server.windows.windows(), address, server.plan.pageSize)
      if (page < 0) continue
      server.countFault(page, write)
      if (fault.answer === FaultAnswer.None) server.demand(page, write, fault.thread)
      else server.answered(page, fault)
      return
    }
    // Its window is being closed: the main thread wakes it when that is done.
    if (this.#wasWindow(address)) return
    throw new AetherError(
      'ERR_AETHER_AGENT',
      `a fault at address ${address.toString(16)} is not in the window of any region`,
    )
  }

  /** A page's home answers for it; where this rank does not know that, another does. */
  #describePage({ id, page }: { id: number; page: number }, reply: Reply): void {
    const here = this.#servers.get(id)?.describe(page)
    if (here === undefined) reply.reject(new AetherError('ERR_AETHER_AGENT', `there is no region ${id} here`))
    else this.#askOn({ region: id, page }, here, this.#data.group.rank, reply)
  }

  #askOn(question: { region: number; page: number }, known: PageKnowledge, by: number, reply: Reply): void {
    const next = known.register ?? known.home
    if (known.directory !== undefined || next === by) {
      reply.resolve(known)
      return
    }
    this.#group.ask(next, question, (answer) => {
      const told = answer as PageKnowledge | null | undefined
      if (told === null || told === undefined) reply.resolve(known)
      else this.#askOn(question, told, next, reply)
    })
  }

  #answer(question: unknown): unknown {
    if (isAllocationQuestion(question)) return this.#allocations.answer(question)
    if (isAdviceQuestion(question)) return this.#answerAdvice(question)
    const { region, page } = question as { region: number; page: number }
    return this.#servers.get(region)?.describe(page) ?? null
  }

  #answerAdvice(question: AdviceQuestion): unknown {
    return this.#servers.get(question.region)?.adviceAnswer(question) ?? null
  }

  #gatherAdvice(id: number, reply: Reply): void {
    const { rank: self } = this.#data.group
    const { mesh } = this.#group
    const ranks = Array.from({ length: mesh.size }, (_, rank) => rank)
    const ask = (rank: number, question: AdviceQuestion, done: (answer: unknown) => void): void =>
      rank === self ? done(this.#answerAdvice(question)) : this.#group.ask(rank, question, done)
    gatherAdvice(id, ranks, ask, this.#context.runtime, (gathered) => reply.resolve(gathered))
  }

  #wasWindow(address: number): boolean {
    return [...this.#servers.values()].some((server) => pageAtAddress(server.windows.cleared(), address, 1) >= 0)
  }

  #explainFailure({ id, page }: { id: number; page: number }, reply: Reply): void {
    const failure = this.#servers.get(id)?.explainFailure(page)
    if (failure === undefined) reply.reject(new AetherError('ERR_AETHER_AGENT', `page ${page} has not failed`))
    else reply.resolve(failure)
  }

  #free(id: number): void {
    this.#freed.add(id)
    this.#allocations.forget(id)
    this.#unopened.get(id)?.whenIdle(() => this.#unopened.delete(id))
    this.#closeIfQuiescent(id)
  }

  /** A page may be on its way into our frames for a call that its caller did not wait for. */
  #closeIfQuiescent(id: number): void {
    const server = this.#servers.get(id)
    if (server?.isQuiescent() === false) return
    server?.close(true)
    this.#lane?.close(id)
    this.#servers.delete(id)
    this.#early.delete(id)
    this.#replicas.delete(id)
    this.#forgotten.add(id)
    this.#freed.delete(id)
  }
}

function mapped({ descriptor, offsetBytes, lengthBytes }: ProfilingPlace): ArrayBuffer {
  return native.mapMemory(descriptor, offsetBytes, lengthBytes, 0)
}

function pagesOf(message: RecoveryMessage): readonly number[] {
  if ('pages' in message) return message.pages
  return 'entries' in message ? message.entries.map(({ page }) => page) : []
}

export const createMachine: MachineFactory = (context, data) => new RegionAgentMachine(context, data as RegionAgentData)
