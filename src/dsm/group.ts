import {
  assembleGroup,
  type BarrierOptions,
  checkBarrier,
  checkBarrierSync,
  Group,
  type GroupParts,
  type JoinOptions,
  type NoteBox,
} from '../cluster/index.ts'
import type { RegionAgentData } from './coherent/agent-machine.ts'
import type { CoherentHost } from './coherent/coherent-host.ts'
import type { CoherentRegion } from './coherent/coherent-region.ts'
import { DemandRing } from './coherent/demand-ring.ts'
// Declare the layouts, so that profiles read here have the help of the agents' counters.
import './advice/advice-counters.ts'
import './coherent/busy-pages.ts'
import './coherent/page-counters.ts'
import './coherent/transition-counters.ts'
import { native, UnsupportedError } from '../native/index.ts'
import { AUTOMATIC_PROTOCOL } from './coherence.ts'
import { type HardwareRegion, openHardwareRegion } from './hardware-region.ts'
import { probeUserfault, type UserfaultProbe } from './mmu/probe.ts'
import type { Region } from './region.ts'
import { RegionDirectory } from './region-directory.ts'
import type { RegionHost } from './region-host.ts'
import { openRegionOf } from './region-openers.ts'
import { parseRegionRequest, type RegionOptions } from './region-request.ts'
import type { BackedOptions } from './space.ts'

/**
 * Become one of N ranks that compute together. The ranks are started by `aether-dsm run -n N`, srun or mpirun, or given
 * as `{ rank, size, rendezvous }`. Ranks on several machines meet over TCP, which takes a shared secret, and are
 * connected over RDMA.
 *
 * ```ts
 * await using group = await join()
 * await using region = await group.openRegion('ranks', { size: '64MiB', coherence: 'directory', pageSize: '64KiB' })
 * region.float64[group.rank] = 42
 * await group.barrier()
 * ```
 *
 * @throws JoinError if rank or size is not given, or no device connects the ranks.
 * @throws MissingMembersError naming ranks that did not join in time.
 * @throws MemberEndedError if a rank died before all had joined.
 * @throws SecretError and RendezvousError if the ranks meet over TCP.
 */
export async function join(options: JoinOptions = {}): Promise<RegionGroup> {
  const demands = new DemandRing()
  const userfault = probeUserfault()
  const extra: Pick<RegionAgentData, 'demands' | 'userfault'> = {
    demands: demands.buffer,
    userfault: 'descriptor' in userfault ? userfault.descriptor : -1,
  }
  const machine = new URL('./coherent/agent-machine.js', import.meta.url)
  try {
    const { parts, notes } = await assembleGroup(options, machine, extra)
    return new RegionGroup(parts, notes, demands, userfault)
  } catch (error) {
    if ('descriptor' in userfault) native.closeDescriptor(userfault.descriptor)
    throw error
  }
}

function notInAGroupThatGrows(name: string, coherence: string, oneMachine: boolean): UnsupportedError {
  const instead = oneMachine ? "Use 'hardware', or a group of a fixed size" : 'Use a group of a fixed size'
  return new UnsupportedError(
    `region '${name}' cannot have coherence '${coherence}' in a group that grows. Its pages would have homes that leave. ${instead}`,
  )
}

/** One rank's place in a group of N ranks that compute together and share regions. */
export class RegionGroup extends Group {
  readonly #host: RegionHost & { readonly coherent: CoherentHost }

  /** @internal Made by {@link join}. */
  constructor(parts: GroupParts, notes: NoteBox, demands: DemandRing, userfault: UserfaultProbe) {
    super(parts, notes)
    const { agent, size } = parts
    const { membership } = parts.meeting
    const coherent: CoherentHost = {
      agent,
      locks: this.locks,
      ranks: size,
      demands,
      userfault,
      regions: new Map(),
      openings: new Map(),
    }
    this.#host = { membership, directory: new RegionDirectory(membership), locks: this.locks, coherent }
  }

  /** Why views of coherent regions are not available here; undefined if they are. */
  get viewsRefused(): string | undefined {
    const { userfault } = this.#host.coherent
    return 'refused' in userfault ? userfault.refused.message : undefined
  }

  /**
   * Make the region `name`, or open it if it exists; without `size` it must exist. Every rank that uses it has to open
   * it: accesses to a page wait until the rank of the page's home has opened it.
   * @throws RegionError if it exists with other parameters (the message shows both), or does not exist;
   *   MemoryExhaustedError; ArgumentError.
   */
  async openRegion(name: string, options: RegionOptions = {}): Promise<Region> {
    this.checkOpen()
    const { oneMachine } = this.parts.meeting
    const request = parseRegionRequest(name, options, oneMachine ? 'hardware' : AUTOMATIC_PROTOCOL)
    if (request.coherence !== 'hardware' && this.parts.grows)
      throw notInAGroupThatGrows(name, request.coherence, oneMachine)
    if (request.coherence === 'hardware' && !oneMachine) throw this.#notOneMachine(name)
    return await openRegionOf(this.#host, request)
  }

  /** Are all ranks on one machine? @internal for the rooms above. */
  get oneMachine(): boolean {
    return this.parts.meeting.oneMachine
  }

  /** As in a space: one memory for all, taken as it is needed. @internal for the rooms above. */
  async openBacked(name: string, { headBytes, ...options }: BackedOptions): Promise<HardwareRegion> {
    this.checkOpen()
    const request = parseRegionRequest(name, options, 'hardware')
    return await openHardwareRegion(this.#host, headBytes === undefined ? request : { ...request, headBytes })
  }

  /** As in a group without regions. Before it, what was written in regions with replicas is fenced. */
  override async barrier(options: BarrierOptions & { readonly signal?: AbortSignal } = {}): Promise<void> {
    checkBarrier(options)
    this.checkOpen()
    await Promise.all(this.#replicatedRegions().map((region) => region.fence()))
    await super.barrier(options)
  }

  override barrierSync(options: BarrierOptions = {}): void {
    checkBarrierSync(options)
    this.checkOpen()
    for (const region of this.#replicatedRegions()) region.fenceSync()
    super.barrierSync(options)
  }

  protected release(): void {
    for (const region of this.#coherentRegions()) region.abandon()
  }

  protected override afterAgent(): void {
    for (const region of this.#coherentRegions()) region.unmap()
    const { userfault } = this.#host.coherent
    if ('descriptor' in userfault) native.closeDescriptor(userfault.descriptor)
  }

  #notOneMachine(name: string): UnsupportedError {
    const hosts = [...new Set(this.members().map(({ host }) => host))].join(', ')
    const instead = this.parts.grows
      ? 'use a group of a fixed size, and one of the protocols'
      : "use 'auto' or one of the protocols"
    return new UnsupportedError(
      `region '${name}' cannot have coherence 'hardware': the ranks are on several machines (${hosts}), which share no memory; ${instead}`,
    )
  }

  #replicatedRegions(): CoherentRegion[] {
    return this.#coherentRegions().filter(({ closed, plan }) => !closed && plan.replicas > 0)
  }

  #coherentRegions(): CoherentRegion[] {
    return [...this.#host.coherent.regions.values()] as CoherentRegion[]
  }
}
