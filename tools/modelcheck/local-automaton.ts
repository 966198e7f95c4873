import { CoherenceNode, type Right } from 'aether-dsm/internal/dsm'
import { Asymmetry } from './asymmetry.ts'
import type { Coverage } from './coverage.ts'
import { Inputs, Operation } from './input.ts'
import { factsOf, type LocalFacts } from './local-facts.ts'
import type { MessageTable } from './message-table.ts'
import { homesOf, type Model } from './model.ts'
import { type NodeInput, takeStep } from './node-step.ts'
import { PairTable } from './pair-table.ts'
import { Program, Wait } from './program.ts'
import { type Effect, EffectRecorder } from './recorder.ts'
import type { Symmetry } from './symmetry.ts'
import { Violation } from './violation.ts'

/** Everything at one node: its coherence node, its program, its mmu. */
export interface Local {
  readonly rank: number
  readonly node: CoherenceNode
  readonly program: Program
  /** What can happen here without a message. */
  readonly inputs: readonly number[]
  readonly facts: LocalFacts
  /** How it was first come to; undefined at the start. */
  readonly from: { readonly local: number; readonly input: number } | undefined
}

type Found = Omit<Local, 'inputs' | 'facts'>

/** A step of one node, once for all the states of the whole in which it can be taken. */
export interface LocalStep {
  /** -1 where it violates something by itself. */
  readonly next: number
  readonly effects: readonly Effect[]
  readonly violation?: string
}

/**
 * What each node can do, found by running the agent's own class. In a given state, an input always leads to the same
 * state and effects. So each such step runs once and is remembered, and the explorer only combines them.
 */
export class LocalAutomaton {
  readonly inputs: Inputs
  readonly #model: Model
  readonly #homes: readonly number[]
  readonly #messages: MessageTable
  readonly #coverage: Coverage
  readonly #locals: Local[] = []
  readonly #ids = new Map<string, number>()
  readonly #steps: LocalStep[] = []
  readonly #origins: { readonly local: number; readonly input: number }[] = []
  readonly #stepOf = new PairTable()
  readonly #renamed: Map<number, number>[] = []
  readonly #ports: readonly EffectRecorder[]

  constructor(model: Model, messages: MessageTable, coverage: Coverage) {
    this.#model = model
    this.#homes = homesOf(model)
    this.#messages = messages
    this.#coverage = coverage
    this.inputs = new Inputs(model.pages)
    this.#ports = Array.from({ length: model.nodes }, (_, rank) => new EffectRecorder(rank, messages))
  }

  /** How many states of single nodes there are, as far as known. */
  get size(): number {
    return this.#locals.length
  }

  /** How many different steps of single nodes there are, as far as known. */
  get steps(): number {
    return this.#steps.length
  }

  at(local: number): Local {
    return this.#locals[local]!
  }

  initial(rank: number): number {
    const { nodes, pages, protocol, threads } = this.#model
    const homeOf = (page: number): number => this.#homes[page]!
    const port = this.#ports[rank]!
    const watch = this.#coverage.visit
    const node = new CoherenceNode({ rank, ranks: nodes, protocol, homeOf, port, watch })
    const frames = this.#homes.reduce((mask, home, page) => (home === rank ? mask | (1 << page) : mask), 0)
    return this.#intern({ rank, node, program: new Program(pages, threads, frames), from: undefined })
  }

  /** The step that `input` makes a node take, by its number. */
  stepOf(local: number, input: number): number {
    const known = this.#stepOf.get(local, input)
    if (known >= 0) return known
    const id = this.#steps.push(this.#run(local, input)) - 1
    this.#stepOf.set(local, input, id)
    this.#origins.push({ local, input })
    return id
  }

  step(id: number): LocalStep {
    return this.#steps[id]!
  }

  /** What an input is. */
  inputOf(input: number): NodeInput {
    if (this.inputs.isMessage(input)) return this.#messages.at(this.inputs.messageOf(input))
    return { operation: this.inputs.operationOf(input), page: this.inputs.pageOf(input) }
  }

  #run(local: number, input: number): LocalStep {
    const { rank, node, program } = this.at(local)
    const port = this.#ports[rank]!
    const copy = { node: node.clone(port), program: program.clone() }
    try {
      const effects = takeStep(copy, this.inputOf(input), port)
      const next = this.#intern({ rank, ...copy, from: { local, input } })
      return { next, effects }
    } catch (cause) {
      return { next: -1, effects: [], violation: cause instanceof Error ? cause.message : String(cause) }
    }
  }

  #intern(found: Found): number {
    const key = `${found.rank} ${found.program.fingerprint()} ${found.node.fingerprint()}`
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    this.#assertMirror(found)
    this.#assertEvicted(found)
    // With tokens the directory has hints.
    if (!found.node.countsTokens) this.#assertDirectory(found)
    const facts = factsOf(found, this.#homes, this.#model.protocol.cache.initial)
    const id = this.#locals.push({ ...found, inputs: this.#possible(found), facts }) - 1
    this.#ids.set(key, id)
    return id
  }

  /** The mmu lets the program do exactly what the table says; with tokens, no more than that. */
  #assertMirror({ rank, node, program }: Found): void {
    for (let page = 0; page < this.#model.pages; page += 1) {
      const mmu = program.may(page, true) ? 'write' : program.may(page, false) ? 'read' : 'none'
      if (node.right(page) === mmu || (node.countsTokens && allows(node.right(page), mmu))) continue
      throw new Violation(
        `mirror: the copy of page ${page} at node ${rank} is in state ${node.copyState(page)}, which means '${node.right(page)}', but the mmu says '${mmu}'`,
      )
    }
  }

  /** A program that asked for an eviction is told when it is over. */
  #assertEvicted({ rank, node, program }: Found): void {
    for (let page = 0; page < this.#model.pages; page += 1) {
      if (((program.evicting >>> page) & 1) === 0) continue
      const state = node.copyState(page)
      if (!this.#model.protocol.cache.states[state]!.transient)
        throw new Violation(
          `eviction: page ${page} at node ${rank} is in state ${state}, and its frame was never given back`,
        )
    }
  }

  /** The state of a page at its home, where nothing is under way, says how many have copies. */
  #assertDirectory({ rank, node }: Found): void {
    const { none, shared, owner: owned } = this.#model.protocol.recovery.directory
    // Where home does not tell them apart, tokens do.
    if (none === shared || shared === owned) return
    for (let page = 0; page < this.#model.pages; page += 1) {
      if (this.#homes[page] !== rank) continue
      const { state, owner, sharers } = node.directory(page)
      const isRight =
        (state !== none || (owner < 0 && sharers.length === 0)) &&
        (state !== shared || (owner < 0 && sharers.length > 0)) &&
        (state !== owned || (owner >= 0 && sharers.length === 0))
      if (isRight) continue
      throw new Violation(
        `directory: page ${page} is in state ${state} at its home, with ${owner < 0 ? 'no owner' : `owner ${owner}`} and ${sharers.length} sharers`,
      )
    }
  }

  #possible({ rank, node, program }: Found): number[] {
    const { pages, threads, protocol, pins } = this.#model
    const found: number[] = []
    const mayBegin = threads === 'many' || program.isIdle
    const events = (page: number): object => protocol.cache.states[node.copyState(page)]!.on
    for (let page = 0; page < pages; page += 1) {
      const add = (operation: Operation): number => found.push(this.inputs.program(operation, page))
      if (program.wait(page, false) === Wait.Awake) add(Operation.RunReader)
      if (program.wait(page, true) === Wait.Awake) add(Operation.RunWriter)
      // A read hit changes nothing. If threads sleep, another one would be one more fault of the same kind. Threads
      // that are awake have yet to run themselves.
      if (mayBegin && program.wait(page, false) !== Wait.Awake && !program.may(page, false)) add(Operation.Load)
      if (mayBegin && program.wait(page, true) !== Wait.Awake) add(Operation.Store)
      if (threads === 'many' && program.may(page, false)) add(Operation.LateLoad)
      if (threads === 'many' && program.may(page, true)) add(Operation.LateStore)
      if (program.isPinned(page)) add(Operation.Unpin)
      else if (pins === true && program.may(page, false)) add(Operation.Pin)
      if (pins === true && !program.mustHold(page) && node.isDeferred(page)) {
        add(Operation.Retry)
        // Only if no node starves: starving nodes are served in between.
        if (program.may(page, false) && node.starvers(page).length === 0) add(Operation.RetryBriefly)
      }
      const isHome = this.#homes[page] === rank
      if (!isHome && !program.mustHold(page) && ('Evict' in events(page) || 'EvictOwner' in events(page)))
        add(Operation.Evict)
    }
    return found
  }

  /** The same state among nodes and pages of other names: what the renamed inputs lead to. */
  renamed(local: number, names: Symmetry, index: number): number {
    this.#renamed[index] ??= new Map()
    const known = this.#renamed[index].get(local)
    if (known !== undefined) return known
    const { rank, from } = this.at(local)
    const image =
      from === undefined
        ? this.initial(names.nodes[rank]!)
        : this.#steps[this.stepOf(this.renamed(from.local, names, index), this.renamedInput(from.input, names))]!.next
    if (image < 0) throw new Asymmetry('a node cannot do under another name what it did under its own')
    this.#renamed[index].set(local, image)
    return image
  }

  /** Every step that was taken. */
  *known(): Generator<{ readonly local: number; readonly input: number; readonly step: LocalStep }> {
    for (const { local, input, step } of this.#origins.map((origin, id) => ({ ...origin, step: this.#steps[id]! })))
      yield { local, input, step }
  }

  /**
   * Whether `image` does under other names what `step` does. In which order channels get their messages makes no
   * difference.
   */
  sameEffects(step: LocalStep, image: LocalStep, names: Symmetry): boolean {
    const renamed = step.effects.map((effect): Effect => {
      if (effect.do === 'store') return { do: 'store', page: names.pages[effect.page]! }
      const pushed = names.pages.reduce(
        (mask, page, before) => ((effect.pushed >>> before) & 1 ? mask | (1 << page) : mask),
        0,
      )
      return { do: 'send', to: names.nodes[effect.to]!, message: this.#messages.renamed(effect.message, names), pushed }
    })
    const byChannel = (effects: readonly Effect[]): string =>
      JSON.stringify([...effects].sort((one, other) => channelOf(one) - channelOf(other)))
    return byChannel(renamed) === byChannel(image.effects)
  }

  renamedInput(input: number, names: Symmetry): number {
    if (this.inputs.isMessage(input))
      return this.inputs.message(this.#messages.renamed(this.inputs.messageOf(input), names))
    return this.inputs.program(this.inputs.operationOf(input), names.pages[this.inputs.pageOf(input)]!)
  }
}

/** Whether one right is more than another. */
const allows = (right: Right, less: Right): boolean => less === 'none' || (right === 'write' && less === 'read')

const channelOf = (effect: Effect): number => (effect.do === 'send' ? effect.to : -1)
