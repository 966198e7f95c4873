/**
 * Every order in which a group of a few members can live through joins, deaths and wrong suspicions. The machines are
 * the production class. What each does next depends on its `state` alone, so a step is computed once and looked up
 * from then on.
 *
 * 1. A process dies before it does anything, or after any part of what a step sends. A later death is no different.
 * 2. A death becomes known at each other process when all that it sent has arrived.
 * 3. A process is suspected wrongly, which stands for a lease that ends and for a connection that breaks.
 * 4. A process without a quorum, to which nothing is under way, ends itself.
 */
import {
  type MembershipEffect,
  type MembershipEvent,
  MembershipMachine,
  type MembershipStatement,
} from '../../../src/cluster/group/membership-machine.ts'

export interface ExplorerOptions {
  /** Members at first. */
  readonly members: number
  readonly candidates: number
  readonly deaths: number
  readonly suspicions: number
  /** A process without a quorum does not end. */
  readonly waits?: boolean
}

export interface Exploration {
  readonly states: number
  /** Quiet states in which members went on, by how many did. */
  readonly endings: ReadonlyMap<number, number>
  /** How many of them had admitted a candidate. */
  readonly admissions: number
}

/** A state of one machine. */
interface Local {
  readonly id: number
  readonly view: string
  readonly epoch: number
  readonly members: readonly number[]
  readonly isCandidate: boolean
  readonly isStuck: boolean
  readonly isOver: boolean
  readonly given: number
  readonly make: () => MembershipMachine
  readonly steps: Map<string | number, { readonly next: Local; readonly effects: readonly MembershipEffect[] }>
}

/** A process. Its links lead to other processes, by rank. */
interface Node {
  readonly rank: number
  readonly local: Local | undefined
  readonly dead: boolean
  /** Process behind each rank, as far as this one is connected with it. */
  readonly links: readonly (readonly [rank: number, process: number])[]
  /** Processes whose end it knows, or that it has closed its connection to. */
  readonly told: number
  readonly closed: number
}

interface World {
  readonly nodes: readonly Node[]
  /** Statements under way, by sender and receiver. */
  readonly channels: readonly (readonly number[])[]
  readonly candidates: number
  readonly deaths: number
  readonly suspicions: number
  /** Which processes have installed which view: `view|process`. */
  readonly installed: readonly string[]
}

const LEASE_NS = 1e9

export class MembershipExplorer {
  readonly #options: ExplorerOptions
  readonly #size: number
  readonly #locals = new Map<string, Local>()
  readonly #statements: MembershipStatement[] = []
  readonly #numbers = new Map<string, number>()
  /** The same, by object: each is there once. */
  readonly #numberOf = new Map<MembershipStatement, number>()
  readonly #seen = new Set<string>()
  readonly #stack: { readonly world: World; readonly path: Path }[] = []
  readonly #endings = new Map<number, number>()
  #admissions = 0

  constructor(options: ExplorerOptions) {
    this.#options = options
    this.#size = options.members + options.candidates
  }

  /** Every order. @throws Error with a way to a state that must not be. */
  run(): Exploration {
    this.#add(this.#first(), undefined)
    for (let next = this.#stack.pop(); next !== undefined; next = this.#stack.pop()) this.#expand(next.world, next.path)
    return { states: this.#seen.size, endings: this.#endings, admissions: this.#admissions }
  }

  /** One order, drawn. @throws Error as {@link run}. */
  walk(random: { below(limit: number): number }): Exploration {
    this.#seen.clear()
    this.#add(this.#first(), undefined)
    for (let next = this.#stack.pop(); next !== undefined; ) {
      this.#expand(next.world, next.path)
      const steps = this.#stack.splice(0)
      next = steps[random.below(Math.max(1, steps.length))]
    }
    return { states: this.#seen.size, endings: this.#endings, admissions: this.#admissions }
  }

  #first(): World {
    const { members, candidates, deaths, suspicions } = this.#options
    const view = { epoch: 0, members: Array.from({ length: members }, (_, rank) => rank) }
    const links = view.members.map((rank) => [rank, rank] as const)
    const nodes = Array.from({ length: this.#size }, (_, process): Node => {
      const isMember = process < members
      const local = isMember ? this.#newLocal(process, { view, given: members }) : undefined
      return { rank: isMember ? process : -1, local, dead: false, links: isMember ? links : [], told: 0, closed: 0 }
    })
    const channels = Array.from({ length: this.#size ** 2 }, () => [])
    return { nodes, channels, candidates, deaths, suspicions, installed: [] }
  }

  #newLocal(rank: number, growth: { view: { epoch: number; members: readonly number[] }; given: number }): Local {
    const make = (): MembershipMachine =>
      new MembershipMachine({ rank, size: 16, leaseNs: LEASE_NS, beatNs: LEASE_NS / 10, growth })
    return this.#localOf(rank, make)
  }

  #localOf(rank: number, make: () => MembershipMachine): Local {
    const machine = make()
    const { view, isCandidate, isStuck, given, state } = machine
    const key = `${rank}${state}`
    const known = this.#locals.get(key)
    if (known !== undefined) return known
    const said = JSON.parse(state) as [unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown[]]
    const local: Local = {
      id: this.#locals.size,
      view: `${view.epoch}:${view.members.join()}:${String(said[7][2])}`,
      epoch: view.epoch,
      members: view.members,
      isCandidate,
      isStuck,
      isOver: said[7][1] === true,
      given,
      make,
      steps: new Map(),
    }
    this.#locals.set(key, local)
    return local
  }

  /** What a machine in that state makes of an event. */
  #step(rank: number, local: Local, event: MembershipEvent): { next: Local; effects: readonly MembershipEffect[] } {
    const key = this.#keyOf(event)
    const known = local.steps.get(key)
    if (known !== undefined) return known
    const again = (): MembershipMachine => {
      const machine = local.make()
      machine.step(event, 0)
      return machine
    }
    const effects = local.make().step(event, 0)
    const step = { next: this.#localOf(rank, again), effects }
    local.steps.set(key, step)
    return step
  }

  #keyOf(event: MembershipEvent): string | number {
    if (event.type === 'stated') return event.from + this.#size * this.#numberOf.get(event.statement)!
    return event.type === 'admit' ? `admit ${event.candidate}` : JSON.stringify(event)
  }

  // ---- what can happen
  // ----------------------------------------------------------------------------------------------------------------

  #expand(world: World, path: Path): void {
    let any = false
    const then = (what: string, next: World): void => {
      any = true
      this.#add(next, { what, before: path })
    }
    if (this.#hearWhatChangesNothing(world, path)) return
    for (const [process, node] of world.nodes.entries())
      if (isLive(node)) this.#happensAt(world, process, node, path, then)
    this.#maybeAdmit(world, then)
    if (!any) this.#fallSilent(world, then)
    if (!any) this.#checkQuiet(world, path)
  }

  /** Who is in a view without this one says nothing to it any more. */
  #fallSilent(world: World, then: Then): void {
    for (const [process, node] of world.nodes.entries()) {
      if (!isLive(node) || node.local.isCandidate) continue
      for (const [rank, other] of node.links) {
        const peer = world.nodes[other]!
        // Another process may have this one's rank there.
        const isThere = isLive(peer) && peer.local.members.includes(node.rank) && leadsTo(peer, node.rank, process)
        if (!isLive(peer) || peer.local.isCandidate || isThere) continue
        if (has(node.told, other + 16) || !node.local.members.includes(rank)) continue
        this.#suspect(world, process, node, other, then)
      }
    }
  }

  /** It can as well be heard first: nothing that happens meanwhile makes a difference. */
  #hearWhatChangesNothing(world: World, path: Path): boolean {
    for (const [process, node] of world.nodes.entries()) {
      if (!isLive(node)) continue
      for (const [other, sender] of world.nodes.entries()) {
        const at = other * this.#size + process
        const channel = world.channels[at]!
        if (channel.length === 0 || !this.#mayHear(node, sender, other)) continue
        const event = { type: 'stated', from: sender.rank, statement: this.#statements[channel[0]!]! } as const
        const { next, effects } = this.#step(node.rank, node.local, event)
        if (next !== node.local || effects.length > 0) continue
        const channels = world.channels.slice()
        channels[at] = channel.slice(1)
        this.#add({ ...world, channels }, path)
        return true
      }
    }
    return false
  }

  #happensAt(world: World, process: number, node: Node & { readonly local: Local }, path: Path, then: Then): void {
    let isQuiet = true
    for (const [other, sender] of world.nodes.entries()) {
      const channel = world.channels[other * this.#size + process]!
      if (channel.length > 0 && this.#mayHear(node, sender, other)) {
        isQuiet = false
        const channels = world.channels.slice()
        channels[other * this.#size + process] = channel.slice(1)
        const event = { type: 'stated', from: sender.rank, statement: this.#statements[channel[0]!]! } as const
        this.#act({ ...world, channels }, process, event, `${process} hears ${other}`, then)
      }
      const isKnown = node.links.some(([, each]) => each === other)
      if (isKnown && sender.dead && !has(node.told, other) && this.#isDrained(world, other)) {
        isQuiet = false
        const nodes = replaced(world.nodes, process, { ...node, told: node.told | (1 << other) })
        const event = { type: 'ended', rank: sender.rank, why: 'it ended' } as const
        this.#act({ ...world, nodes }, process, event, `${process} knows that ${other} has ended`, then)
      }
    }
    this.#maybeSuspect(world, process, node, then)
    if (world.deaths > 0 && path === undefined)
      then(`${process} dies`, { ...this.#kill(world, process), deaths: world.deaths - 1 })
    if (isQuiet && node.local.isStuck && this.#options.waits !== true)
      then(`${process} gives up`, this.#kill(world, process))
  }

  /** Who is not a member here yet is heard later. A candidate knows the members of the view that it is to join. */
  #mayHear(node: Node & { readonly local: Local }, sender: Node, other: number): boolean {
    return !has(node.closed, other) && node.links.some(([rank, each]) => each === other && rank === sender.rank)
  }

  #isDrained(world: World, process: number): boolean {
    return world.nodes.every((node, to) => {
      if (world.channels[process * this.#size + to]!.length === 0 || !isLive(node)) return true
      return !this.#mayHear(node, world.nodes[process]!, process)
    })
  }

  #maybeSuspect(world: World, process: number, node: Node & { readonly local: Local }, then: Then): void {
    for (const [, other] of node.links) {
      const isFree = isLive(world.nodes[other]!) && has(world.nodes[other]!.closed, process)
      if (other === process || (!isFree && world.suspicions === 0)) continue
      if (node.local.isCandidate || has(node.closed, other) || has(node.told, other + 16)) continue
      const suspicions = isFree ? world.suspicions : world.suspicions - 1
      this.#suspect({ ...world, suspicions }, process, node, other, then)
    }
  }

  #suspect(world: World, process: number, node: Node, other: number, then: Then): void {
    const nodes = replaced(world.nodes, process, { ...node, told: node.told | (1 << (other + 16)) })
    const event = { type: 'suspected', rank: world.nodes[other]!.rank, why: 'silence' } as const
    this.#act({ ...world, nodes }, process, event, `${process} suspects ${other}`, then)
  }

  /** A candidate is ready with all members of a view, and one of them proposes it. */
  #maybeAdmit(world: World, then: Then): void {
    if (world.candidates === 0) return
    const process = this.#size - world.candidates
    for (const [sponsor, node] of world.nodes.entries()) {
      if (!isLive(node) || node.local.isCandidate) continue
      const { epoch, members, given } = node.local
      const processes = members.map((rank) => node.links.find(([each]) => each === rank)![1])
      const areReady = processes.every((each) => {
        const member = world.nodes[each]!
        return isLive(member) && member.local.view === node.local.view
      })
      if (!areReady) continue
      const number = 100 + process
      const growth = { view: { epoch, members }, given, candidate: number }
      const candidate: Node = {
        ...world.nodes[process]!,
        rank: given,
        local: this.#newLocal(given, growth),
        links: members.map((rank, index) => [rank, processes[index]!] as const),
      }
      const nodes = replaced(world.nodes, process, candidate)
      const prepared = { ...world, nodes, candidates: world.candidates - 1 }
      const event = { type: 'admit', candidate: number } as const
      this.#act(prepared, sponsor, event, `${sponsor} proposes ${process} to epoch ${epoch}`, then)
    }
  }

  // ---- steps
  // ----------------------------------------------------------------------------------------------------------------

  #act(world: World, process: number, event: MembershipEvent, what: string, then: Then): void {
    const node = world.nodes[process]!
    const { next, effects } = this.#step(node.rank, node.local!, event)
    const stepped = { ...world, nodes: replaced(world.nodes, process, { ...node, local: next }) }
    then(what, this.#carryOut(stepped, process, effects))
    if (world.deaths === 0) return
    for (let count = 1; count <= effects.length; count += 1) {
      const part = this.#carryOut(stepped, process, effects.slice(0, count))
      then(`${what}, and dies after ${count} of ${effects.length}`, {
        ...this.#kill(part, process),
        deaths: world.deaths - 1,
      })
    }
  }

  #carryOut(world: World, process: number, effects: readonly MembershipEffect[]): World {
    let result = world
    for (const effect of effects) {
      if (effect.type === 'end') return this.#kill(result, process)
      result = effect.type === 'state' ? this.#send(result, process, effect) : this.#install(result, process, effect)
    }
    return result
  }

  #send(world: World, process: number, { to, statement }: MembershipEffect & { readonly type: 'state' }): World {
    const node = world.nodes[process]!
    const target = node.links.find(([rank]) => rank === to)?.[1]
    if (target === undefined || has(node.closed, target) || !isLive(world.nodes[target]!)) return world
    const channels = world.channels.slice()
    const at = process * this.#size + target
    channels[at] = [...channels[at]!, this.#number(statement)]
    return { ...world, channels }
  }

  #install(world: World, process: number, effect: MembershipEffect & { readonly type: 'view' }): World {
    const node = world.nodes[process]!
    let { links, closed } = node
    for (const { rank } of effect.gone) closed |= 1 << links.find(([each]) => each === rank)![1]
    const { joined } = effect
    if (joined !== undefined) links = [...links, [joined.rank, joined.candidate - 100] as const]
    const channels = world.channels.slice()
    for (let other = 0; other < this.#size; other += 1)
      if (has(closed, other)) channels[other * this.#size + process] = []
    const view = `${effect.view.epoch}:${effect.view.members.join()}:${joined?.candidate ?? 0}`
    const installed = [...new Set([...world.installed, `${view}|${node.rank}`])].sort()
    return { ...world, nodes: replaced(world.nodes, process, { ...node, links, closed }), channels, installed }
  }

  #kill(world: World, process: number): World {
    const node = { ...world.nodes[process]!, dead: true }
    const channels = world.channels.map((channel, at) => (at % this.#size === process ? [] : channel))
    return { ...world, nodes: replaced(world.nodes, process, node), channels }
  }

  #number(statement: MembershipStatement): number {
    const number = this.#numberOf.get(statement) ?? this.#numberByText(statement)
    this.#numberOf.set(statement, number)
    return number
  }

  #numberByText(statement: MembershipStatement): number {
    const text = JSON.stringify(statement)
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.#statements.length)
    return this.#statements.push(statement) - 1
  }

  // ---- what must hold
  // ----------------------------------------------------------------------------------------------------------------

  #add(world: World, path: Path): void {
    let key = `${world.candidates}${world.deaths}${world.suspicions}${world.installed.join()}`
    for (const { local, dead, links, told, closed } of world.nodes) {
      key += dead ? `;d` : `;${local?.id},${told},${closed}`
      if (!dead) for (const [rank, process] of links) key += `.${rank}${process}`
    }
    for (const channel of world.channels) key += String.fromCharCode(1, ...channel.map((each) => each + 2))
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    this.#checkViews(world, path)
    this.#stack.push({ world, path })
  }

  /** Of the views of one epoch at most one is installed by all of its members. */
  #checkViews({ installed }: World, path: Path): void {
    const by = new Map<string, Set<string>>()
    for (const each of installed) {
      const [view, rank] = each.split('|') as [string, string]
      by.set(view, (by.get(view) ?? new Set()).add(rank))
    }
    const complete = [...by].filter(([view, ranks]) =>
      view
        .split(':')[1]!
        .split(',')
        .every((rank) => ranks.has(rank)),
    )
    const epochs = complete.map(([view]) => view.split(':')[0])
    if (new Set(epochs).size < epochs.length)
      throw failure(`two views of one epoch: ${complete.map(([view]) => view).join(' and ')}`, path)
  }

  /** Nothing can happen any more, but for deaths: all that go on are in one view, and are its members. */
  #checkQuiet(world: World, path: Path): void {
    const members = world.nodes.filter(isLive).filter(({ local }) => !local.isCandidate)
    const living = members.filter(({ local }) => !local.isStuck)
    const views = new Set(living.map(({ local }) => local.view))
    if (views.size > 1) throw failure(`two groups go on: ${[...views].join(' and ')}`, path)
    const [first] = living
    const noneWaits = living.length === members.length
    if (noneWaits && first !== undefined && first.local.members.length !== living.length)
      throw failure(`the view is ${first.local.view}, and ${living.map(({ rank }) => rank).join()} live`, path)
    this.#endings.set(living.length, (this.#endings.get(living.length) ?? 0) + 1)
    if (living.some(({ rank }) => rank >= this.#options.members)) this.#admissions += 1
  }
}

type Path = { readonly what: string; readonly before: Path } | undefined
type Then = (what: string, next: World) => void

const has = (bits: number, index: number): boolean => ((bits >> index) & 1) === 1
const isLive = (node: Node): node is Node & { readonly local: Local } => !node.dead && node.local !== undefined

function leadsTo({ links }: Node, rank: number, process: number): boolean {
  return links.some(([each, to]) => each === rank && to === process)
}

function replaced(nodes: readonly Node[], process: number, node: Node): readonly Node[] {
  return nodes.map((each, index) => (index === process ? node : each))
}

function failure(what: string, path: Path): Error {
  const lines: string[] = []
  for (let at = path; at !== undefined; at = at.before) lines.unshift(at.what)
  return new Error(`${what}\n${lines.join('\n')}`)
}
