import type { IndexFrame, IndexNodeFrame, IndexShardFrame } from '../src/dashboard/wire.ts'
import { rankColour } from './canvas.ts'
import { card, fill, make, named, Rows, tableWith } from './dom.ts'
import type { Feed } from './feed.ts'
import { bytesText, countText } from './units.ts'
import type { View } from './view.ts'

/** As in src/index-service/keys/slot.ts. */
const SLOTS = 16_384

/** Indexes: which node holds and leads which slots, and what there is in them. */
export class IndexesView implements View {
  readonly id = 'indexes'
  readonly title = 'Indexes'
  readonly element: HTMLElement
  readonly #feed: Feed
  readonly #nodes: Rows
  readonly #shards: Rows
  readonly #empty = make('div', { class: 'empty' })
  #shown = ''

  constructor(feed: Feed) {
    this.#feed = feed
    const amounts = ['keys', 'memory', 'behind', 'waiting', 'evicted']
    const nodes = tableWith('<index', '<node', '<slots', 'leads', 'holds', 'moving', ...amounts, 'slow calls')
    const shards = tableWith('<index', 'shard', '<slots', '<leader', '<replicas', ...amounts)
    nodes.table.setAttribute('aria-label', 'Nodes')
    shards.table.setAttribute('aria-label', 'Shards')
    this.#nodes = new Rows(nodes)
    this.#shards = new Rows(shards)
    const what = make('small', {}, 'slots: full where the node leads, pale where it follows, striped where it moves')
    this.element = make(
      'section',
      { id: this.id },
      card(
        make('span', {}, 'Nodes of indexes ', what),
        make('div', { class: 'scroll' }, this.#empty, nodes.table, make('h3', {}, 'Shards'), shards.table),
      ),
    )
  }

  update(): void {
    const { indexes = [], indexesStamp, frame } = this.#feed
    const theme = document.documentElement.dataset['theme']
    const shown = [indexesStamp, frame?.running, frame?.members.length, theme].join()
    if (shown === this.#shown) return
    this.#shown = shown
    this.#nodes.show(indexes.flatMap((index) => index.nodes.map((node) => this.#nodeRow(index, node))))
    this.#shards.show(
      indexes.flatMap((index) => Array.from({ length: index.shards }, (_, shard) => this.#shardRow(index, shard))),
    )
    const isEmpty = indexes.length === 0
    this.element.classList.toggle('none', isEmpty)
    this.#empty.hidden = !isEmpty
    if (isEmpty) fill(this.#empty, make('p', {}, ...this.#whyEmpty()))
  }

  #nodeRow({ name, shards }: IndexFrame, { number, bytesMax, slow, shards: held }: IndexNodeFrame) {
    const moving = held.filter(({ state }) => state !== 'holds').length
    const [keys, memory, ...rest] = amountsOf(held)
    return {
      key: JSON.stringify([name, number]),
      cells: [
        name,
        this.#member(number),
        stripOf(shards, number, held),
        countText(held.filter(({ leads }) => leads).length),
        countText(held.length - moving),
        countOrNone(moving),
        keys!,
        `${memory} of ${bytesText(bytesMax)}`,
        ...rest,
        countOrNone(slow),
      ],
    }
  }

  /** Amounts are those of the leader, or of one that holds the shard while none leads. */
  #shardRow({ name, shards, nodes }: IndexFrame, shard: number) {
    const parts = nodes.flatMap((node) =>
      node.shards.filter((each) => each.shard === shard).map((part) => ({ number: node.number, part })),
    )
    const leader = parts.find(({ part }) => part.leads)
    const others = parts.filter((each) => each !== leader)
    const [first] = [leader, ...others].flatMap((each) => each?.part ?? [])
    const [keys, memory, , ...rest] = amountsOf(first === undefined ? [] : [first])
    const from = Math.ceil((shard * SLOTS) / shards)
    const to = Math.ceil(((shard + 1) * SLOTS) / shards) - 1
    const replicas = others.map(({ number, part }) =>
      named(part.state === 'holds' ? String(number) : `${number} ${part.state}`, rankColour(number)),
    )
    return {
      key: JSON.stringify([name, shard]),
      cells: [
        name,
        String(shard),
        `${from}–${to}`,
        leader === undefined ? '–' : this.#member(leader.number),
        make('span', { class: 'replicas' }, ...replicas),
        keys!,
        memory!,
        behindText(parts.map(({ part }) => part)),
        ...rest,
      ],
    }
  }

  #member(number: number): HTMLElement {
    const hasRanks = this.#feed.frame?.members.some(({ rank }) => rank !== null) === true
    return named(`${hasRanks ? 'rank' : 'member'} ${number}`, rankColour(number))
  }

  /** An empty list says why it is empty. */
  #whyEmpty(): readonly (Node | string)[] {
    const { frame, indexes, isRecording } = this.#feed
    if (isRecording && indexes === undefined)
      return ['This recording has no indexes: a version of Aether before them made it.']
    if (frame?.running !== true) return ['No space is running, so there are no indexes.']
    return ['No member is a node of an index: ', make('code', {}, "await openIndex(group, { name: 'users' })"), '.']
  }
}

function amountsOf(shards: readonly IndexShardFrame[]): readonly string[] {
  const sum = (of: (shard: IndexShardFrame) => number): number => shards.reduce((all, shard) => all + of(shard), 0)
  return [
    countText(sum(({ keys }) => keys)),
    bytesText(sum(({ bytesUsed }) => bytesUsed)),
    behindText(shards),
    countOrNone(sum(({ waiting }) => waiting)),
    countOrNone(sum(({ evicted }) => evicted)),
  ]
}

function behindText(shards: readonly IndexShardFrame[]): string {
  return countOrNone(Math.max(0, ...shards.map(({ behind }) => behind ?? 0)))
}

function countOrNone(count: number): string {
  return count === 0 ? '–' : countText(count)
}

/** The slots of an index from left to right, and what the node is to them. */
function stripOf(shards: number, number: number, held: readonly IndexShardFrame[]): HTMLElement {
  const parts = Array.from({ length: shards }, (_, shard) => {
    const part = held.find((each) => each.shard === shard)
    const what = part === undefined ? 'not here' : part.leads ? 'leads' : part.state
    const block = make('i', { title: `shard ${shard}: ${what}`, class: what })
    if (part !== undefined) block.style.color = rankColour(number, part.leads ? 1 : 0.4)
    return block
  })
  return make('span', { class: 'strip' }, ...parts)
}
