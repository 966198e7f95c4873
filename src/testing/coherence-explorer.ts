/**
 * Explores a coherence protocol: every interleaving of loads, stores and message deliveries of a few nodes on one page, breadth first.
 *
 * A state is reached by replaying its path from the start, so that the very classes of the agent are explored and nothing needs to be cloned.
 * Values are abstract: a frame is *fresh* when it holds what was last stored. That keeps the space finite and is all the data-value invariant needs.
 *
 * Asserted in every state (numbers as in the Primer, ch. 2.5 and 6): single writer or many readers, by what the mmu allows; whoever may read has
 * the last value; at rest (no message, nobody waiting) no page is in a transient state. Asserted of the whole: from every
 * state a state at rest can be reached (progress), and every demand is satisfied there.
 */
import {
  type CoherenceMessage,
  CoherenceNode,
  messageKindName,
  type NodePort,
  type Protocol,
  type Right,
} from '../dsm/index.ts'

export interface ExplorerOptions {
  readonly protocol: Protocol
  /** How many nodes share the page; node 0 is its home. */
  readonly nodes: number
  /** Stop with an error beyond this many states: a protocol that does not come to an end is wrong too. */
  readonly statesMax?: number
}

export interface ExplorerResult {
  readonly states: number
  readonly transitions: number
  /** The longest shortest path. */
  readonly depth: number
  /** Undefined where every invariant holds everywhere; else what was violated, and the shortest way there. */
  readonly violation?: { readonly what: string; readonly trace: readonly string[] }
}

type Step =
  | { readonly do: 'load' | 'store' | 'retire'; readonly node: number }
  | { readonly do: 'deliver'; readonly from: number; readonly to: number }

class Violation extends Error {}

class World {
  readonly nodes: CoherenceNode[]
  readonly rights: Right[]
  readonly fresh: boolean[]
  /** What each node's program waits for. */
  readonly wants: Right[]
  /** Granted, and the access it was granted for has not run: the page is held. */
  readonly held: boolean[]
  readonly channels: CoherenceMessage[][]
  /** Pushed bytes travel with the messages: freshness at the time of the push, by channel. */
  readonly size: number

  constructor(protocol: Protocol, size: number) {
    this.size = size
    this.rights = Array.from({ length: size }, () => 'none')
    this.wants = Array.from({ length: size }, () => 'none')
    this.held = Array.from({ length: size }, () => false)
    this.fresh = Array.from({ length: size }, (_, node) => node === 0)
    this.channels = Array.from({ length: size * size }, () => [])
    this.nodes = Array.from(
      { length: size },
      (_, rank) => new CoherenceNode({ rank, ranks: size, protocol, homeOf: () => 0, port: this.#port(rank) }),
    )
  }

  #port(rank: number): NodePort {
    return {
      send: (to, message) => this.channels[rank * this.size + to]!.push(message),
      // One-sided and on the same queue pair as the message behind it; written at once, which only makes stale reads easier to catch.
      push: (_page, to) => {
        this.fresh[to] = this.fresh[rank]!
      },
      ownFrame: () => ({ address: 0, key: 0 }),
      mapReadOnly: () => this.#map(rank, 'read'),
      mapWritable: () => this.#map(rank, 'write'),
      protect: () => {
        this.rights[rank] = 'read'
      },
      unmap: () => {
        this.rights[rank] = 'none'
      },
      evicted: () => {},
      failed: () => {
        throw new Violation(`node ${rank} was told that the page is lost, and nobody died`)
      },
      mustHold: () => this.held[rank]!,
      isAlive: () => true,
    }
  }

  #map(rank: number, right: Right): void {
    this.rights[rank] = right
    this.held[rank] = this.wants[rank] !== 'none'
  }

  steps(): Step[] {
    const steps: Step[] = []
    for (let node = 0; node < this.size; node++) {
      if (this.wants[node] === 'none') steps.push({ do: 'load', node }, { do: 'store', node })
      else if (this.held[node]) steps.push({ do: 'retire', node })
    }
    this.channels.forEach((channel, index) => {
      if (channel.length > 0) steps.push({ do: 'deliver', from: Math.floor(index / this.size), to: index % this.size })
    })
    return steps
  }

  take(step: Step): void {
    if (step.do === 'deliver') {
      this.nodes[step.to]!.receive(this.channels[step.from * this.size + step.to]!.shift()!)
    } else if (step.do === 'retire') {
      this.#retire(step.node)
    } else {
      this.wants[step.node] = step.do === 'store' ? 'write' : 'read'
      this.#access(step.node)
    }
    this.#assertInvariants()
  }

  /** The faulting thread runs again: the access happens, or faults once more (a store on a page that became readable only). */
  #retire(node: number): void {
    this.held[node] = false
    this.#access(node)
    if (!this.held[node] && this.nodes[node]!.isDeferred(0)) this.nodes[node]!.retry(0)
  }

  #access(node: number): void {
    const wants = this.wants[node]!
    const right = this.rights[node]!
    if (right === 'none' || (wants === 'write' && right === 'read')) {
      this.nodes[node]!.demand(0, wants === 'write')
      return
    }
    if (wants === 'write') for (let other = 0; other < this.size; other++) this.fresh[other] = other === node
    this.wants[node] = 'none'
  }

  #assertInvariants(): void {
    const writers = this.rights.filter((right) => right === 'write').length
    const readers = this.rights.filter((right) => right === 'read').length
    if (writers > 1 || (writers === 1 && readers > 0))
      throw new Violation(`single writer or many readers: ${writers} writers and ${readers} readers`)
    this.rights.forEach((right, node) => {
      if (right !== 'none' && !this.fresh[node])
        throw new Violation(`data value: node ${node} may ${right} a page that is not the last one written`)
    })
    if (!this.isAtRest()) return
    this.nodes.forEach((machine, node) => {
      if (!machine.isQuiescent())
        throw new Violation(
          `quiescence: nothing is under way, but node ${node} is in ${machine.copyState(0)} / ${machine.directory(0).state}`,
        )
      if (machine.right(0) !== this.rights[node])
        throw new Violation(`mirror: node ${node} is in ${machine.copyState(0)}, but the mmu says ${this.rights[node]}`)
    })
  }

  isAtRest(): boolean {
    return this.channels.every((channel) => channel.length === 0) && this.wants.every((want) => want === 'none')
  }

  fingerprint(): string {
    const channels = this.channels.map((channel) => channel.map((m) => [m.kind, m.requester, m.count]))
    return JSON.stringify([
      this.nodes.map((node) => node.fingerprint()),
      this.rights,
      this.fresh,
      this.wants,
      this.held,
      channels,
    ])
  }

  describe(step: Step): string {
    if (step.do !== 'deliver') return `node ${step.node}: ${step.do}`
    const message = this.channels[step.from * this.size + step.to]![0]!
    return `node ${step.from} -> node ${step.to}: ${messageKindName(message.kind)}`
  }
}

interface Visited {
  readonly from: number
  readonly step: Step | undefined
  readonly depth: number
}

/** Explore `options.protocol` to the end, or to its first violation. */
export function exploreCoherence(options: ExplorerOptions): ExplorerResult {
  const { protocol, nodes, statesMax = 200_000 } = options
  const visited: Visited[] = [{ from: -1, step: undefined, depth: 0 }]
  const indexOf = new Map<string, number>([[new World(protocol, nodes).fingerprint(), 0]])
  const predecessors: number[][] = [[]]
  const resting: number[] = [0]
  let transitions = 0

  for (let index = 0; index < visited.length; index++) {
    const path = pathTo(visited, index)
    for (const step of replay(protocol, nodes, path).steps()) {
      const world = replay(protocol, nodes, path)
      transitions++
      try {
        world.take(step)
      } catch (cause) {
        const what = cause instanceof Error ? cause.message : String(cause)
        return {
          states: visited.length,
          transitions,
          depth: path.length + 1,
          violation: { what, trace: describe(protocol, nodes, [...path, step]) },
        }
      }
      const key = world.fingerprint()
      let next = indexOf.get(key)
      if (next === undefined) {
        next = visited.push({ from: index, step, depth: path.length + 1 }) - 1
        if (next >= statesMax) {
          return {
            states: next,
            transitions,
            depth: path.length + 1,
            violation: { what: `more than ${statesMax} states`, trace: describe(protocol, nodes, [...path, step]) },
          }
        }
        indexOf.set(key, next)
        predecessors.push([])
        if (world.isAtRest()) resting.push(next)
      }
      predecessors[next]!.push(index)
    }
  }
  const depth = visited.at(-1)!.depth
  const stuck = firstThatCannotReach(predecessors, resting)
  if (stuck === undefined) return { states: visited.length, transitions, depth }
  const what = 'progress: from here the nodes can never come to rest'
  return {
    states: visited.length,
    transitions,
    depth,
    violation: { what, trace: describe(protocol, nodes, pathTo(visited, stuck)) },
  }
}

function pathTo(visited: readonly Visited[], index: number): Step[] {
  const path: Step[] = []
  for (let at = visited[index]!; at.step !== undefined; at = visited[at.from]!) path.unshift(at.step)
  return path
}

function replay(protocol: Protocol, nodes: number, path: readonly Step[]): World {
  const world = new World(protocol, nodes)
  for (const step of path) world.take(step)
  return world
}

function describe(protocol: Protocol, nodes: number, path: readonly Step[]): string[] {
  const world = new World(protocol, nodes)
  return path.map((step, index) => {
    const line = world.describe(step)
    if (index < path.length - 1) world.take(step)
    return line
  })
}

function firstThatCannotReach(predecessors: readonly number[][], targets: readonly number[]): number | undefined {
  const reached = new Set(targets)
  const work = [...targets]
  for (let at = work.pop(); at !== undefined; at = work.pop()) {
    for (const before of predecessors[at]!) if (!reached.has(before)) work.push(before) && reached.add(before)
  }
  for (let index = 0; index < predecessors.length; index++) if (!reached.has(index)) return index
  return undefined
}
