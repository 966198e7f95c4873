import type { Protocol } from 'aether-dsm/internal/dsm'
import { cellsOf, cellText } from './coverage.ts'
import { type Flip, flipsOf } from './flips.ts'
import { cellsTaken, deedsOf } from './outcome.ts'
import type { Play } from './play.ts'
import { type Pose, posed } from './pose.ts'
import { shortened } from './shorten.ts'
import { Stage, stageModel } from './stage.ts'
import type { Action, Doing } from './world.ts'

/**
 * Collects plays until every cell of a protocol's tables is taken at the end of one. For each action of a cell it also
 * looks for a play that ends differently without the action.
 */
export class PlaySearch {
  readonly #protocol: Protocol
  readonly #stages = new Map<number, Stage>()
  /** Cells that no play takes yet. */
  readonly #missing: Set<string>
  /** By cell: what may be left out of it without any difference so far. */
  readonly #open = new Map<string, Flip[]>()
  readonly #plays: Play[] = []

  constructor(protocol: Protocol) {
    this.#protocol = protocol
    this.#missing = new Set(cellsOf(protocol).map((cell) => cellText(cell)))
    for (const flip of flipsOf(protocol)) {
      if (!flip.name.includes(' without ')) continue
      const cell = cellText(flip.cell)
      this.#open.set(cell, [...(this.#open.get(cell) ?? []), flip])
    }
  }

  get plays(): readonly Play[] {
    return this.#plays
  }

  /** Cells that no play takes. */
  get missing(): string[] {
    return [...this.#missing]
  }

  /** Flips that make no difference to what is done in any play. */
  get untold(): string[] {
    return [...this.#open.values()].flat().map(({ name }) => name)
  }

  /** The stage for plays with this number of nodes. */
  stage(nodes: number): Stage {
    const stage = this.#stages.get(nodes) ?? new Stage(stageModel(this.#protocol, nodes))
    this.#stages.set(nodes, stage)
    return stage
  }

  /** Takes a way for a play where it leads somewhere new. */
  offer(nodes: number, way: readonly Action[]): void {
    const news = this.#newsOf(nodes, way)
    if (news.size > 0) this.#take(nodes, way, news)
  }

  /** The same of a pose. */
  offerPose(nodes: number, pose: Pose): void {
    const { outcomes } = this.stage(nodes)
    const { message, ...stepping } = posed(this.#protocol, nodes, pose)
    const news = this.#newsIn((protocol) => outcomes.of(stepping, message, protocol))
    if (news.size > 0) this.#add({ nodes, way: [], pose, outcome: outcomes.of(stepping, message) }, news)
  }

  /** As {@link offer}, with every step left out that is not needed to get there. */
  offerLong(nodes: number, way: readonly Action[]): void {
    const news = this.#newsOf(nodes, way)
    if (news.size === 0) return
    const attempt = (shorter: readonly Action[]): readonly Action[] | undefined => {
      const possible = this.stage(nodes).possible(shorter)
      if (possible.at(-1) !== way.at(-1)) return undefined
      const found = this.#newsOf(nodes, possible)
      return [...news].every((each) => found.has(each)) ? possible : undefined
    }
    this.#take(nodes, shortened(way, attempt), news)
  }

  /**
   * What a step would tell for the first time: cells that it takes, and flips of cells that make a difference to it.
   */
  newsOf({ outcomes, world }: Stage, { local, input }: Doing): Set<string> {
    const { locals } = world
    return this.#newsIn((protocol) => outcomes.of(locals.at(local), locals.inputOf(input), protocol))
  }

  #newsIn(deedsBy: (protocol?: Protocol) => string[]): Set<string> {
    const outcome = deedsBy()
    const cells = [...new Set(cellsTaken(outcome))]
    const deeds = deedsOf(outcome).join('\n')
    const told = cells
      .flatMap((cell) => this.#open.get(cell) ?? [])
      .filter((flip) => deedsOf(deedsBy(flip.protocol)).join('\n') !== deeds)
    return new Set([...cells.filter((cell) => this.#missing.has(cell)), ...told.map(({ name }) => name)])
  }

  /** The same of the end of a way; nothing where it cannot be gone, or leads to nothing that a node does. */
  #newsOf(nodes: number, way: readonly Action[]): Set<string> {
    const stage = this.stage(nodes)
    const { steps, what, outcome } = stage.perform(way)
    const last = steps.at(-1)
    if (outcome === undefined || what !== undefined || last === undefined) return new Set()
    const doing = stage.world.doingOf(last.before, last.action)
    return doing === undefined ? new Set() : this.newsOf(stage, doing)
  }

  #take(nodes: number, way: readonly Action[], news: ReadonlySet<string>): void {
    this.#add({ nodes, way, outcome: this.stage(nodes).perform(way).outcome! }, news)
  }

  #add(play: Play, news: ReadonlySet<string>): void {
    this.#plays.push(play)
    for (const cell of news) this.#missing.delete(cell)
    for (const [cell, flips] of this.#open) {
      const left = flips.filter(({ name }) => !news.has(name))
      if (left.length > 0) this.#open.set(cell, left)
      else this.#open.delete(cell)
    }
  }
}
