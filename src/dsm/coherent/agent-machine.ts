/**
 * The machine that the agent of a group runs: the group's own part, and a {@link RegionServer} for each coherent
 * region. Loaded by its URL in the agent.
 */
import process from 'node:process'
import {
  AgentDoor,
  type GroupAgentData,
  GroupMachine,
  type GroupPeer,
  type LockMode,
  ProcessEnds,
  type ProfilingPlace,
  type RegistryAnswer,
} from '../../cluster/index.ts'
import { AetherError, FaultAnswer, native } from '../../native/index.ts'
import { identifyTrace, shareThreadProfiling, WaitTable, watchdogTimes } from '../../profiling/index.ts'
import type { AgentContext, Machine, MachineFactory, Reply } from '../../runtime/index.ts'
import { type AdviceQuestion, gatherAdvice, isAdviceQuestion } from '../advice/gathering.ts'
import { protocols } from '../coherence/index.ts'
import { pageAtAddress } from '../mmu/userfault-mmu.ts'
import { Observation } from '../observation/index.ts'
import { RECORD_VARIABLE } from '../recording/index.ts'
import { AgentProcess } from './agent-process.ts'
import {
  ALLOCATION_KEEPER,
  AllocationKeeper,
  type AllocationQuestion,
  isAllocationQuestion,
} from './allocation-keeper.ts'
import { CommandWaits } from './command-waits.ts'
import { DemandRing } from './demand-ring.ts'
import { FaultLane, type ReadFault } from './fault-lane.ts'
import { PageWaits } from './page-waits.ts'
import type { PageRange } from './readahead.ts'
import type { RegionPlan } from './region-plan.ts'
import type { PageKnowledge } from './region-server.ts'
import { RegionServers } from './region-servers.ts'

/** What the agent of a group with regions is started with. */
export interface RegionAgentData extends GroupAgentData {
  readonly demands: SharedArrayBuffer
  /** The process's userfaultfd, or -1 where there is none. */
  readonly userfault: number
}

/** Answer of the command `openRegion`. */
export type OpenRegionReply = RegistryAnswer

class RegionAgentMachine implements Machine {
  readonly #context: AgentContext
  readonly #data: RegionAgentData
  readonly #group: GroupMachine
  readonly #demands: DemandRing
  readonly #regions: RegionServers
  readonly #allocations = new AllocationKeeper()
  readonly #commandWaits = new CommandWaits((id) => this.#regions.get(id)?.plan.name)
  /** Undefined where there are no views. */
  readonly #lane: FaultLane | undefined
  /** In a group that grows. */
  readonly #door: AgentDoor | undefined
  readonly #observation: Observation

  /** What the main thread may ask for. Its payloads come from this package's own code. */
  readonly #commands: Readonly<Record<string, (payload: unknown, reply: Reply) => void>> = {
    endpoints: (_, reply) => reply.resolve(this.#group.endpoints()),
    connect: (peers, reply) => reply.resolve(this.#group.connect(peers as GroupPeer[])),
    leave: (_, reply) => this.#group.leave(reply),
    tell: (told, reply) => reply.resolve(this.#tell(told as { rank: number; topic: string; value: unknown })),
    post: (posted, reply) => {
      const { topic, value } = posted as { topic: string; value: unknown }
      reply.resolve(this.#group.postings.post(topic, value))
    },
    posted: (topic, reply) => this.#group.postings.gather(topic as string, (found) => reply.resolve(found)),
    sayOfLinks: (said, reply) => {
      const { rank, value } = said as { rank: number; value: unknown }
      reply.resolve(this.#group.sayOfLinks(rank, value))
    },
    linksSaid: (from, reply) => reply.resolve(this.#group.linksSaid(from as number)),
    suspect: (said, reply) => {
      const { rank, why } = said as { rank: number; why: string }
      reply.resolve(this.#group.suspect(rank, why))
    },
    lock: (wanted, reply) => this.#lock(wanted as { token: number; name: string; mode: LockMode }, reply),
    unlock: (own, reply) => reply.resolve(this.#unlock(own as { token: number; had: boolean })),
    openRegion: (region, reply) => {
      const { plan, parameters } = region as { plan: RegionPlan; parameters: string }
      this.#regions.open(plan, parameters, (answer) => reply.resolve(answer))
    },
    lookUpRegion: (name, reply) => this.#lookUp(name as string, reply),
    closeWindows: (id, reply) => reply.resolve(this.#regions.get(id as number)?.windows.clear()),
    closeRegion: (name, reply) => this.#group.closeRegion(name as string, () => reply.resolve(undefined)),
    fence: (id, reply) => this.#fence(id as number, reply),
    giveUp: (range, reply) => this.#giveUp(range as { id: number } & PageRange, reply),
    allocation: (question, reply) => this.#askForAllocation(question as AllocationQuestion, reply),
    memoryUse: (id, reply) => reply.resolve(this.#regions.get(id as number)?.memoryUse()),
    failure: (page, reply) => this.#explainFailure(page as { id: number; page: number }, reply),
    advice: (id, reply) => this.#gatherAdvice(id as number, reply),
    page: (page, reply) => this.#describePage(page as { id: number; page: number }, reply),
    barrierView: (_, reply) => reply.resolve(this.#group.barrierView),
    waits: (_, reply) => this.#group.watch.survey((waits) => reply.resolve(waits)),
  }

  constructor(context: AgentContext, data: RegionAgentData) {
    this.#context = context
    this.#data = data
    this.#demands = new DemandRing(data.demands)
    shareThreadProfiling(mapped(data.profiling), 0, data.profiling.lengthBytes)
    this.#observation = new Observation(data.watching, data.group.rank, data.group.size)
    identifyTrace({ rank: data.group.rank })
    const waits = { table: new WaitTable(mapped(data.waits)), times: watchdogTimes() }
    this.#door = data.door && new AgentDoor(data.door)
    const ends = new ProcessEnds(data.group.size, data.group.control)
    this.#group = new GroupMachine(context, data.group, ends, waits)
    try {
      this.#lane = data.userfault < 0 ? undefined : new FaultLane(data.userfault)
    } catch (error) {
      this.#group.close()
      throw error
    }
    this.#regions = new RegionServers({
      group: this.#group,
      process: new AgentProcess(context, data.userfault),
      observation: this.#observation,
      lane: this.#lane,
      recordTo: process.env[RECORD_VARIABLE] || undefined,
      protocols,
    })
    this.#group.watch.add(new PageWaits(this.#regions))
    this.#group.watch.add(this.#commandWaits)
    this.#group.listen({
      message: (from, bytes) => this.#regions.receive(from, bytes),
      memberDied: (rank) => this.#regions.memberDied(rank),
      viewChanged: (view) => this.#regions.viewChanged(view),
      regionFree: (id) => {
        this.#allocations.forget(id)
        this.#regions.free(id)
      },
      answer: (question) => this.#answer(question),
    })
  }

  get descriptors(): readonly number[] {
    const { descriptors } = this.#group
    return this.#door === undefined ? descriptors : [...descriptors, this.#door.descriptor]
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
    any = this.#door?.turn(this.#group) === true || any
    if (this.#group.isStuck) this.#door?.overhear(this.#context.runtime.now())
    any = this.#takeFaults() || any
    any =
      this.#demands.drain((region, page, write) => this.#regions.get(region)?.requests.demand(page, write, 0)) > 0 ||
      any
    this.#regions.turn()
    any = this.#observation.turn() || any
    return any
  }

  prepareSleep(): boolean {
    for (const server of this.#regions.values()) server.flushRecording()
    return this.#group.prepareSleep()
  }

  command(name: string, payload: unknown, reply: Reply): void {
    const command = this.#commands[name]
    if (command === undefined) reply.reject(new AetherError('ERR_AETHER_AGENT', `the agent has no command '${name}'`))
    else command(payload, this.#commandWaits.during(name, payload, reply))
  }

  close(): void {
    this.#door?.close()
    this.#regions.close()
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
    const server = this.#regions.get(id)
    if (server === undefined) reply.reject(new AetherError('ERR_AETHER_AGENT', `there is no region ${id} here`))
    else server.giveUp(range, () => reply.resolve(undefined))
  }

  #fence(id: number, reply: Reply): void {
    const server = this.#regions.get(id)
    if (server === undefined) reply.reject(new AetherError('ERR_AETHER_AGENT', `there is no region ${id} here`))
    else server.fence(() => reply.resolve(undefined))
  }

  /** The parameters of a region that exists, without opening it. */
  #lookUp(name: string, reply: Reply): void {
    this.#group.lookUpRegion(name, (answer) => reply.resolve(answer))
  }

  #takeFaults(): boolean {
    this.#lane?.read()
    return this.#tellOfFaults()
  }

  #tellOfFaults(): boolean {
    return this.#lane?.tell((fault) => this.#fault(fault)) ?? false
  }

  #fault(fault: ReadFault): void {
    const { address, write, region } = fault
    // After a death a fault no longer names its region.
    const named = this.#regions.get(region)
    for (const server of named === undefined ? this.#regions.values() : [named]) {
      const page = pageAtAddress(server.windows.windows(), address, server.plan.pageSize)
      if (page < 0) continue
      server.events.faulted(page, write)
      if (fault.answer === FaultAnswer.None) server.requests.demand(page, write, fault.thread)
      else server.requests.answered(page, fault)
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
    const here = this.#regions.get(id)?.describe(page)
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
    return this.#regions.get(region)?.describe(page) ?? null
  }

  #answerAdvice(question: AdviceQuestion): unknown {
    return this.#regions.get(question.region)?.events.adviceAnswer(question) ?? null
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
    return [...this.#regions.values()].some((server) => pageAtAddress(server.windows.cleared(), address, 1) >= 0)
  }

  #explainFailure({ id, page }: { id: number; page: number }, reply: Reply): void {
    const failure = this.#regions.get(id)?.explainFailure(page)
    if (failure === undefined) reply.reject(new AetherError('ERR_AETHER_AGENT', `page ${page} has not failed`))
    else reply.resolve(failure)
  }
}

function mapped({ descriptor, offsetBytes, lengthBytes }: ProfilingPlace): ArrayBuffer {
  return native.mapMemory(descriptor, offsetBytes, lengthBytes, 0)
}

export const createMachine: MachineFactory = (context, data) => new RegionAgentMachine(context, data as RegionAgentData)
