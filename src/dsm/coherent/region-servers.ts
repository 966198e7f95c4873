import { type GroupMachine, MeshChannel, type RegistryAnswer } from '../../cluster/index.ts'
import { AetherError } from '../../native/index.ts'
import {
  type CoherenceMessage,
  type EpochMembers,
  isRequest,
  MessageKind,
  type Protocol,
  type RecoveryMessage,
  refusalOf,
  UnopenedRegion,
} from '../coherence/index.ts'
import type { RegionWatchers } from '../observation/index.ts'
import { ClosingRegions } from './closing-regions.ts'
import { CoherenceCodec } from './coherence-channel.ts'
import type { FaultLane } from './fault-lane.ts'
import {
  decodeHomeMessage,
  type HomeMessage,
  isKnowledge,
  learnHomes,
  type PageHome,
  tellHomes,
} from './home-claims.ts'
import { decodeRecovery, encodeRecovery } from './recovery-channel.ts'
import type { RegionPlan } from './region-plan.ts'
import type { RegionProcess } from './region-process.ts'
import { RegionServer } from './region-server.ts'
import { decodeReplica, encodeKept, type ReplicaMessage } from './replica-channel.ts'
import { ReplicaStore } from './replica-store.ts'

export interface RegionServersOptions {
  readonly group: GroupMachine
  readonly process: RegionProcess
  readonly observation: RegionWatchers
  /** Undefined where there are no views. */
  readonly lane: FaultLane | undefined
  /** Directory in which what happens to regions is written down. */
  readonly recordTo: string | undefined
  /** By name. */
  readonly protocols: ReadonlyMap<string, Protocol>
}

/** The requester of messages that have none. */
const NOBODY = -1
const KINDS: ReadonlySet<number> = new Set(Object.values(MessageKind))

/**
 * The coherent regions that one rank serves, and what others say about regions that it has not opened yet, or that are
 * closed for good.
 */
export class RegionServers {
  readonly #options: RegionServersOptions
  readonly #servers = new Map<number, RegionServer>()
  /** Messages for regions that this rank has not opened yet. */
  readonly #early = new Map<number, { readonly from: number; readonly bytes: Uint8Array }[]>()
  /** Regions that this rank has not opened, and that recovered from a death. */
  readonly #unopened = new Map<number, UnopenedRegion>()
  /** What this rank keeps of pages of others, also of regions that it has not opened. */
  readonly #replicas = new Map<number, ReplicaStore>()
  /** Homes of pages, told by survivors, for regions that this rank has not opened yet. */
  readonly #earlyHomes = new Map<number, PageHome[]>()
  readonly #closings: ClosingRegions
  /** Regions that are closed for good: their numbers do not come again. */
  readonly #forgotten = new Set<number>()
  readonly #codec = new CoherenceCodec()

  constructor(options: RegionServersOptions) {
    this.#options = options
    this.#closings = new ClosingRegions({
      mesh: options.group.mesh,
      isQuiescent: (id) => this.#servers.get(id)?.isQuiescent() !== false,
      close: (id) => this.#close(id),
    })
  }

  get(id: number): RegionServer | undefined {
    return this.#servers.get(id)
  }

  values(): Iterable<RegionServer> {
    return this.#servers.values()
  }

  /** Open the region of that name, or make it. `done` is called when it is served, or with the reason why it is not. */
  open(plan: RegionPlan, parameters: string, done: (answer: RegistryAnswer) => void): void {
    this.#options.group.openRegion(plan.name, parameters, (answer) => {
      if (answer.kind !== 'opened') done(answer)
      else
        this.#whenInOrder(answer.id, () => {
          this.#serve(answer.id, plan, answer.ended)
          done(answer)
        })
    })
  }

  /** User threads may have released pages, and regions that are free may be at rest. */
  turn(): void {
    for (const server of this.#servers.values()) server.rights.retryPinned()
    this.#closings.turn()
  }

  /** A message of one of the channels of regions. */
  receive(from: number, bytes: Uint8Array): void {
    if (bytes[0] === MeshChannel.Coherence) this.#receiveCoherence(from, bytes)
    else if (bytes[0] === MeshChannel.Homes) this.#receiveHome(from, bytes)
    else if (bytes[0] === MeshChannel.Recovery) this.#receiveRecovery(from, bytes)
    else if (bytes[0] === MeshChannel.Replicas) this.#receiveReplica(from, bytes)
    else if (bytes[0] !== MeshChannel.Closings || !this.#closings.receive(from, bytes)) this.#reject(from)
  }

  memberDied(rank: number): void {
    for (const server of this.#servers.values()) {
      // What a page's home is, and whether the page is lost, is for recovery to say from now on.
      this.#options.lane?.close(server.id)
    }
    for (const store of this.#replicas.values()) store.memberDied(rank)
  }

  viewChanged(view: EpochMembers): void {
    for (const server of this.#servers.values()) server.viewChanged(view)
    for (const [id, unopened] of this.#unopened) {
      this.#tellReplicatedHomes(id, view)
      unopened.viewChanged(view)
    }
  }

  /** No rank has the region open any more. */
  free(id: number): void {
    this.#unopened.get(id)?.whenIdle(() => this.#unopened.delete(id))
    this.#options.lane?.close(id)
    this.#servers.get(id)?.free()
    this.#closings.add(id)
    // We are not going to open it.
    this.#receiveEarly(id)
  }

  close(): void {
    for (const server of this.#servers.values()) server.close(false)
  }

  #whenInOrder(id: number, then: () => void): void {
    const unopened = this.#unopened.get(id)
    if (unopened === undefined) then()
    else unopened.whenIdle(then)
  }

  #serve(id: number, plan: RegionPlan, ended: readonly number[]): void {
    if (this.#servers.has(id)) return
    const { group, process, observation, lane, recordTo } = this.#options
    const unopened = this.#unopened.get(id)
    this.#unopened.delete(id)
    const { agreed, homes } = plan.placement
    if (agreed === 'first-touch' && homes !== undefined) learnHomes(homes, this.#earlyHomes.get(id) ?? [])
    this.#earlyHomes.delete(id)
    const protocol = this.#options.protocols.get(plan.coherence)
    if (protocol === undefined) throw new AetherError('ERR_AETHER_AGENT', `there is no protocol '${plan.coherence}'`)
    const server = new RegionServer({
      ...{ id, plan, ended, protocol, process, observation, recordTo },
      mesh: group.mesh,
      view: group.view,
      recovered: group.view.epoch === 0 ? 0 : (unopened?.recovered ?? -1),
      heirs: unopened?.heirs,
      replicas: this.#replicasOf(id),
    })
    this.#servers.set(id, server)
    if (lane !== undefined && this.#isWhole()) server.openLane(lane)
    this.#receiveEarly(id)
  }

  #receiveEarly(id: number): void {
    const early = this.#early.get(id) ?? []
    this.#early.delete(id)
    for (const { from, bytes } of early) this.receive(from, bytes)
  }

  /** No rank has ended or left yet. */
  #isWhole(): boolean {
    const { mesh } = this.#options.group
    return Array.from({ length: mesh.size }, (_, rank) => rank).every((rank) => mesh.isAlive(rank))
  }

  #receiveCoherence(from: number, bytes: Uint8Array): void {
    const decoded = this.#codec.decode(from, bytes)
    if (decoded === undefined || !this.#isPlausible(decoded.message)) {
      this.#reject(from)
      return
    }
    const { region, message, epoch } = decoded
    const server = this.#servers.get(region)
    if (server?.isFor(message) === true) server.receive(message, epoch)
    else if (server !== undefined) this.#reject(from)
    else if (!this.#closings.has(region)) this.#keepEarly(region, from, bytes)
    else if (isRequest(message.kind)) this.#refuse(region, message, epoch)
  }

  /** The region is closed, and was never open here: its requester is to know that the page will not come. */
  #refuse(region: number, message: CoherenceMessage, epoch: number): void {
    const { mesh } = this.#options.group
    mesh.send(message.from, this.#codec.encode(region, refusalOf(message, mesh.rank), epoch))
  }

  #receiveHome(from: number, bytes: Uint8Array): void {
    const message = decodeHomeMessage(bytes, this.#options.group.mesh.size)
    if (message === undefined) this.#reject(from)
    else if (isKnowledge(message) && !this.#servers.has(message.region))
      this.#earlyHomes.set(message.region, [...(this.#earlyHomes.get(message.region) ?? []), ...message.homes])
    else this.#receiveClaim(from, bytes, message)
  }

  #receiveClaim(from: number, bytes: Uint8Array, message: HomeMessage): void {
    const server = this.#servers.get(message.region)
    if (server === undefined) this.#keepEarly(message.region, from, bytes)
    else if (!message.homes.every(({ page }) => server.has(page)) || !server.receiveHome(from, message))
      this.#reject(from)
  }

  /** This rank has not opened the region, and keeps pages of it for others. */
  #tellReplicatedHomes(region: number, { members }: EpochMembers): void {
    const { mesh } = this.#options.group
    const others = members.filter((member) => member !== mesh.rank)
    const homes = this.#replicas.get(region)?.homes() ?? []
    tellHomes(region, [...homes], others, (to, bytes) => mesh.send(to, bytes))
  }

  #receiveRecovery(from: number, bytes: Uint8Array): void {
    const decoded = decodeRecovery(bytes)
    if (decoded === undefined) {
      this.#reject(from)
      return
    }
    const { region, message } = decoded
    const server = this.#servers.get(region)
    if (server !== undefined && !pagesOf(message).every((page) => server.has(page))) {
      this.#reject(from)
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
    else if (message === undefined || !this.#replicasOf(message.region).receive(from, message)) this.#reject(from)
  }

  #answerLate(from: number, message: ReplicaMessage): void {
    if ('total' in message && message.offset + message.bytes.length === message.total)
      this.#options.group.mesh.send(from, encodeKept(message.region, message.token))
  }

  #replicasOf(region: number): ReplicaStore {
    let store = this.#replicas.get(region)
    if (store === undefined) {
      store = new ReplicaStore(region, (to, bytes) => this.#options.group.mesh.send(to, bytes))
      this.#replicas.set(region, store)
    }
    return store
  }

  #newUnopened(region: number): UnopenedRegion {
    const { mesh, view } = this.#options.group
    const unopened = new UnopenedRegion(mesh.rank, view, (to, message) => {
      for (const bytes of encodeRecovery(region, message)) mesh.send(to, bytes)
    })
    this.#unopened.set(region, unopened)
    return unopened
  }

  /** It is received when this rank opens the region. */
  #keepEarly(region: number, from: number, bytes: Uint8Array): void {
    if (this.#closings.has(region) || this.#forgotten.has(region)) return
    const early = this.#early.get(region) ?? []
    early.push({ from, bytes: bytes.slice() })
    this.#early.set(region, early)
  }

  #isPlausible({ kind, page, requester }: CoherenceMessage): boolean {
    return KINDS.has(kind) && page >= 0 && requester >= NOBODY && requester < this.#options.group.mesh.size
  }

  #reject(from: number): void {
    this.#options.group.mesh.reject(from)
  }

  #close(id: number): void {
    this.#servers.get(id)?.close(true)
    this.#servers.delete(id)
    this.#earlyHomes.delete(id)
    this.#replicas.delete(id)
    this.#forgotten.add(id)
  }
}

function pagesOf(message: RecoveryMessage): readonly number[] {
  if ('pages' in message) return message.pages
  return 'entries' in message ? message.entries.map(({ page }) => page) : []
}
