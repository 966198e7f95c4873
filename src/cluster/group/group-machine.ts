import type { AgentContext, Reply } from '../../runtime/index.ts'
import type { RemoteEndpoint } from '../../verbs/index.ts'
import type { ControlPlace } from '../hosts/index.ts'
import { BarrierMachine } from './barrier-machine.ts'
import { type ControlMessage, decodeControl } from './control-message.ts'
import { LockMachine } from './locks/index.ts'
import { Mesh } from './mesh.ts'
import { MeshChannel } from './mesh-channel.ts'
import { Registry, type RegistryAnswer } from './registry.ts'

/** What the agent of a group is started with. */
export interface GroupStart {
  readonly rank: number
  readonly size: number
  readonly device: string
  /** Where the ends of ranks are told that this one cannot see. */
  readonly control: ControlPlace | undefined
  readonly barrierWords: SharedArrayBuffer
}

/** How a peer is reached. */
export interface GroupPeer {
  readonly rank: number
  readonly endpoint: RemoteEndpoint
  /** Undefined where its process number means nothing here. */
  readonly processId: number | undefined
  /** The longest packet, in bytes; undefined where that means nothing. */
  readonly pathMtu: number | undefined
}

/** What the agent tells the main thread by itself. */
export type GroupNote = { readonly type: 'left' | 'died'; readonly rank: number; readonly reason: string }

const COORDINATOR = 0
/** On a network a peer that ends is silent: so often something is sent to it, which fails then. */
const PROBE_NS = 1e9
const gone: RegistryAnswer = { kind: 'gone', rank: COORDINATOR }

/** Who else in the agent listens to the group. */
export interface GroupListener {
  message(from: number, bytes: Uint8Array): void
  /** A rank has died; its messages have all been handled. */
  memberDied(rank: number): void
  /** Nobody has region `id` open any more. */
  regionFree(id: number): void
  /** Another rank wants to know something. */
  answer(question: unknown): unknown
}

/** The agent's side of a group: mesh, barrier, registry of regions, departures. */
export class GroupMachine {
  readonly mesh: Mesh
  readonly #context: AgentContext
  readonly #start: GroupStart
  readonly #barrier: BarrierMachine
  readonly locks: LockMachine
  /** Only the coordinator's is used. */
  readonly #registry = new Registry()
  readonly #gone = new Map<number, 'left' | 'died'>()
  /** Questions under way, by token: to whom, and what to do with the answer. */
  readonly #asked = new Map<
    number,
    { readonly rank: number; readonly done: (answer: unknown) => void; readonly ifGone: unknown }
  >()
  #listener: GroupListener | undefined
  #nextToken = 1
  #leaving: Reply | undefined
  /** This rank has left: nothing is asked for any more. */
  #hasLeft = false

  constructor(context: AgentContext, start: GroupStart) {
    this.#context = context
    this.#start = start
    this.mesh = new Mesh({
      rank: start.rank,
      size: start.size,
      device: start.device,
      control: start.control,
      onMessage: ({ from, bytes }) => this.#receive(from, bytes),
      onDeath: (rank, reason) => this.#died(rank, reason),
    })
    const words = new Int32Array(start.barrierWords)
    const send = (rank: number, bytes: Uint8Array): void => this.mesh.send(rank, bytes)
    this.#barrier = new BarrierMachine({ ...start, words, send })
    this.locks = new LockMachine({ ...start, send })
  }

  listen(listener: GroupListener): void {
    this.#listener = listener
  }

  get descriptors(): number[] {
    return this.mesh.descriptors
  }

  turn(): boolean {
    const any = this.mesh.turn()
    return this.#barrier.turn() || any
  }

  prepareSleep(): boolean {
    return this.mesh.prepareSleep()
  }

  /** How each peer reaches us. */
  endpoints(): RemoteEndpoint[] {
    const { rank, size } = this.#start
    const none: RemoteEndpoint = { gid: 0n, queuePairNumber: 0, psn: 0 }
    const endpoints = Array.from({ length: size }, (_, peer) => (peer === rank ? none : this.mesh.endpointFor(peer)))
    const gid = endpoints.find((endpoint) => endpoint.gid !== 0n)?.gid ?? 0n
    return endpoints.map((endpoint) => ({ ...endpoint, gid }))
  }

  connect(peers: readonly GroupPeer[]): void {
    for (const { rank, ...peer } of peers) this.mesh.connect(rank, peer)
    if (this.mesh.needsProbes) this.#probeSoon()
  }

  #probeSoon(): void {
    const { now, timers } = this.#context.runtime
    timers.at(now() + PROBE_NS, () => {
      // Peers that have left are not asked any more: they go when all have left.
      if (this.#hasLeft) return
      this.mesh.probe()
      this.#probeSoon()
    })
  }

  isAlive(rank: number): boolean {
    return this.mesh.isAlive(rank)
  }

  /** The parameters of a region that exists, without opening it. */
  lookUpRegion(name: string, done: (answer: RegistryAnswer) => void): void {
    if (this.#start.rank === COORDINATOR) {
      done(this.#registry.lookUp(name))
    } else if (this.#gone.has(COORDINATOR)) {
      done(gone)
    } else {
      this.#control(COORDINATOR, {
        op: 'lookUp',
        token: this.#remember(COORDINATOR, done as (answer: unknown) => void, gone),
        name,
      })
    }
  }

  /** Ask the registry. */
  openRegion(name: string, parameters: string | undefined, done: (answer: RegistryAnswer) => void): void {
    if (this.#start.rank === COORDINATOR) {
      done(this.#registry.open(COORDINATOR, name, parameters))
    } else if (this.#gone.has(COORDINATOR)) {
      done(gone)
    } else {
      const token = this.#remember(COORDINATOR, done as (answer: unknown) => void, gone)
      this.#control(COORDINATOR, { op: 'open', token, name, parameters: parameters ?? null })
    }
  }

  /** Ask rank `rank`'s listener. `done` gets its answer; undefined where the rank is gone. */
  ask(rank: number, question: unknown, done: (answer: unknown) => void): void {
    if (this.#gone.has(rank)) done(undefined)
    else this.#control(rank, { op: 'ask', token: this.#remember(rank, done, undefined), question })
  }

  /** This rank needs the name no more. `done` when the registry knows. */
  closeRegion(name: string, done: () => void): void {
    if (this.#start.rank === COORDINATOR) {
      this.#freed(this.#registry.close(COORDINATOR, name))
      done()
    } else if (this.#gone.has(COORDINATOR)) {
      done()
    } else {
      this.#control(COORDINATOR, { op: 'close', token: this.#remember(COORDINATOR, done, undefined), name })
    }
  }

  /** Leave the group; answered when every other rank has left too or is dead. Until then this agent serves. */
  leave(reply: Reply): void {
    this.#leaving = reply
    this.#hasLeft = true
    this.locks.leave()
    this.#broadcast({ op: 'leave', passed: this.#barrier.passed })
    this.#maybeLeft()
  }

  close(): void {
    this.mesh.close()
  }

  #receive(from: number, bytes: Uint8Array): void {
    switch (bytes[0]) {
      case MeshChannel.Barrier:
        if (!this.#barrier.receive(from, bytes)) this.mesh.reject(from)
        break
      case MeshChannel.Locks:
        if (!this.locks.receive(from, bytes)) this.mesh.reject(from)
        break
      case MeshChannel.Control:
        this.#obeyIfSound(from, decodeControl(bytes.subarray(1)))
        break
      case MeshChannel.Probe:
        break
      default:
        this.#listener?.message(from, bytes)
    }
  }

  #obeyIfSound(from: number, control: ControlMessage | undefined): void {
    if (control === undefined) this.mesh.reject(from)
    else this.#obey(from, control)
  }

  #obey(from: number, control: ControlMessage): void {
    switch (control.op) {
      case 'leave':
        this.#end(from, 'left', 'it left the group', control.passed)
        break
      case 'open': {
        const answer = this.#registry.open(from, control.name, control.parameters ?? undefined)
        this.#control(from, { op: 'opened', token: control.token, answer })
        break
      }
      case 'lookUp':
        this.#control(from, { op: 'opened', token: control.token, answer: this.#registry.lookUp(control.name) })
        break
      case 'opened':
      case 'answer':
        this.#asked.get(control.token)?.done(control.answer)
        this.#asked.delete(control.token)
        break
      case 'ask':
        this.#control(from, {
          op: 'answer',
          token: control.token,
          answer: this.#listener?.answer(control.question) ?? null,
        })
        break
      case 'close':
        this.#freed(this.#registry.close(from, control.name))
        this.#control(from, { op: 'answer', token: control.token, answer: null })
        break
      case 'free':
        this.#listener?.regionFree(control.id)
    }
  }

  #died(rank: number, reason: string): void {
    // Who has left stays until all have: one that ends after we did is missed by nobody, one that ends before was ended by force.
    if (this.#gone.get(rank) === 'left' && this.#hasLeft) return
    this.#listener?.memberDied(rank)
    this.locks.memberDied(rank)
    this.#end(rank, 'died', reason)
    for (const id of this.#registry.memberEnded(rank)) this.#freed(id)
  }

  #end(rank: number, type: 'left' | 'died', reason: string, passed?: number): void {
    this.#gone.set(rank, type)
    for (const [token, asked] of this.#asked) {
      if (asked.rank !== rank) continue
      this.#asked.delete(token)
      asked.done(asked.ifGone)
    }
    if (passed === undefined) this.#barrier.memberDied(rank)
    else this.#barrier.memberLeft(rank, passed)
    this.#context.notify({ type, rank, reason } satisfies GroupNote)
    this.#maybeLeft()
  }

  #maybeLeft(): void {
    if (this.#leaving === undefined || this.#gone.size < this.#start.size - 1) return
    this.#leaving.resolve(undefined)
    this.#leaving = undefined
  }

  #freed(id: number | undefined): void {
    if (id === undefined) return
    this.#broadcast({ op: 'free', id })
    this.#listener?.regionFree(id)
  }

  #remember(rank: number, done: (answer: unknown) => void, ifGone: unknown): number {
    const token = this.#nextToken++
    this.#asked.set(token, { rank, done, ifGone })
    return token
  }

  #broadcast(control: ControlMessage): void {
    for (let peer = 0; peer < this.#start.size; peer++) if (peer !== this.#start.rank) this.#control(peer, control)
  }

  #control(to: number, control: ControlMessage): void {
    const text = Buffer.from(JSON.stringify(control))
    const bytes = new Uint8Array(1 + text.length)
    bytes[0] = MeshChannel.Control
    bytes.set(text, 1)
    this.mesh.send(to, bytes)
  }
}
