import { Asymmetry } from './asymmetry.ts'
import { PairTable } from './pair-table.ts'
import { type Symmetry, symmetriesOf } from './symmetry.ts'
import type { World } from './world.ts'

/**
 * Symmetry reduction: of the states that differ only in the names of nodes and pages, one stands for all.
 *
 * That is sound only where every node does under other names what it did under its own. {@link assertSymmetric} looks
 * at each step of each node that was explored, so it is known and not assumed.
 */
export class Canonical {
  readonly #world: World
  readonly #symmetries: readonly Symmetry[]
  readonly #renamedChannels: PairTable[]
  readonly #image: Int32Array

  constructor(world: World, reduce: boolean) {
    this.#world = world
    // With tokens the starving node of the lowest rank comes first: names matter.
    const { tokens } = world.model.protocol
    this.#symmetries = reduce && tokens === undefined ? symmetriesOf(world.model) : []
    this.#renamedChannels = this.#symmetries.map(() => new PairTable())
    this.#image = new Int32Array(world.length)
  }

  /** How many states at most are taken for one. */
  get factor(): number {
    return this.#symmetries.length + 1
  }

  /** Turns a state into the one that stands for it. */
  reduce(vector: Int32Array): void {
    for (let index = 0; index < this.#symmetries.length; index += 1) {
      this.#rename(vector, index)
      if (isLess(this.#image, vector)) vector.set(this.#image)
    }
  }

  /** @throws Asymmetry where a node's step is another under other names. */
  assertSymmetric(): void {
    const { locals } = this.#world
    this.#symmetries.forEach((names, index) => {
      for (const { local, input, step } of [...locals.known()]) {
        const image = locals.step(locals.stepOf(locals.renamed(local, names, index), locals.renamedInput(input, names)))
        const sameNext = step.next < 0 ? image.next < 0 : locals.renamed(step.next, names, index) === image.next
        if (!sameNext || !locals.sameEffects(step, image, names))
          throw new Asymmetry('nodes or pages are not treated alike')
      }
    })
  }

  #rename(vector: Int32Array, index: number): void {
    const { nodes, pages } = this.#symmetries[index]!
    const world = this.#world
    const image = this.#image
    image.fill(0)
    image[world.refusalsAt] = vector[world.refusalsAt]!
    for (let node = 0; node < nodes.length; node += 1) {
      image[nodes[node]!] = world.locals.renamed(vector[node]!, this.#symmetries[index]!, index)
      for (let page = 0; page < pages.length; page += 1)
        if ((vector[world.freshAt]! & world.freshBit(node, page)) !== 0)
          image[world.freshAt]! |= world.freshBit(nodes[node]!, pages[page]!)
      for (let to = 0; to < nodes.length; to += 1) {
        if (to === node) continue
        const channel = vector[world.channelAt(node, to)]!
        if (channel !== 0) image[world.channelAt(nodes[node]!, nodes[to]!)] = this.#renamedChannel(channel, index)
      }
    }
  }

  #renamedChannel(channel: number, index: number): number {
    const known = this.#renamedChannels[index]!.get(channel, 0)
    if (known >= 0) return known
    const { channels, messages } = this.#world
    const names = this.#symmetries[index]!
    const mask = (pages: number): number =>
      names.pages.reduce((image, page, before) => ((pages >>> before) & 1 ? image | (1 << page) : image), 0)
    let image = 0
    for (const envelope of channels.contents(channel)) {
      const message = messages.renamed(channels.messageOf(envelope), names)
      const [pushed, fresh] = [mask(channels.pushedWith(envelope)), mask(channels.freshWith(envelope))]
      image = channels.append(image, channels.envelope(message, pushed, fresh))
    }
    this.#renamedChannels[index]!.set(channel, 0, image)
    return image
  }
}

function isLess(one: Int32Array, other: Int32Array): boolean {
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return one[at]! < other[at]!
  return false
}
