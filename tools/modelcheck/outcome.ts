import {
  type CoherenceMessage,
  CoherenceNode,
  type FrameReference,
  messageKindName,
  type Protocol,
} from 'aether-dsm/internal/dsm'
import type { Side } from './coverage.ts'
import { type MessageTable, ownerOfFrame } from './message-table.ts'
import { homesOf, type Model } from './model.ts'
import { type NodeInput, type Stepping, takeStep } from './node-step.ts'
import { EffectRecorder } from './recorder.ts'

/**
 * The effects of a step of one node, in words, for a model of one page. Each cell that the step takes is listed with
 * the table's entry. Below are what the node did, and what it remembers differently.
 */
export class Outcomes {
  readonly #model: Model
  readonly #messages: MessageTable

  constructor(model: Model, messages: MessageTable) {
    this.#model = model
    this.#messages = messages
  }

  /**
   * What `input` makes a node do by the tables of `protocol`, whose states are those of the model's. The node itself
   * stays as it is.
   */
  of({ node, program }: Stepping, input: NodeInput, protocol: Protocol = this.#model.protocol): string[] {
    const { rank } = node
    const { nodes } = this.#model
    const homes = homesOf(this.#model)
    const teller = new Teller(rank, this.#messages)
    const watch = (side: Side, state: string, event: string): void =>
      teller.tell(`${side} ${state}/${event} ${cellWords(protocol, side, state, event)}`)
    const homeOf = (page: number): number => homes[page]!
    const copy = new CoherenceNode({ rank, ranks: nodes, protocol, homeOf, port: teller, watch })
    copy.restore(node.save())
    const before = memoryOf(copy)
    try {
      takeStep({ node: copy, program: program.clone() }, input, teller)
    } catch (cause) {
      return [...teller.lines, `- fails: ${cause instanceof Error ? cause.message : String(cause)}`]
    }
    const after = memoryOf(copy)
    const changed = Object.keys(after).filter((name) => before[name] !== after[name])
    const owners = copy.directory(0).version - node.directory(0).version
    return [
      ...teller.lines,
      ...changed.map((name) => `${name}: ${before[name]} -> ${after[name]}`),
      ...(owners === 0 ? [] : [`home has changed owners ${owners === 1 ? 'once' : `${owners} times`} more`]),
    ]
  }
}

/** What a cell says. */
function cellWords(protocol: Protocol, side: Side, state: string, event: string): string {
  const on = protocol[side].states[state]!.on as Readonly<
    Record<string, { readonly actions: readonly string[]; readonly next: string }>
  >
  const { actions, next } = on[event]!
  return actions.length === 0 ? `-> ${next}` : `-> ${next}: ${actions.join(', ')}`
}

const cellLine = /^((?:cache|directory) \S+\/\S+) ->/

/** The cells that were taken, in their order. */
export const cellsTaken = (outcome: readonly string[]): string[] =>
  outcome.flatMap((line) => cellLine.exec(line)?.[1] ?? [])

/** What was done, whatever the table says. */
export const deedsOf = (outcome: readonly string[]): string[] => outcome.filter((line) => !cellLine.test(line))

/** What a node remembers of page 0 and goes by, in words, by what it is about. */
function memoryOf(node: CoherenceNode): Record<string, string> {
  const { copies, entries, deferred, starvers } = node.save()
  const copy = copies[0]?.[1]
  const entry = entries[0]?.[1]
  const kinds = (messages: readonly CoherenceMessage[] | undefined): string =>
    listed(messages?.map(({ kind, requester }) => `${messageKindName(kind)} for ${requester}`))
  const home = node.directory(0)
  // With tokens home asks itself whatever its hints say of it.
  const holders = node.countsTokens ? home.sharers.filter((rank) => rank !== node.rank) : home.sharers
  return {
    copy: node.copyState(0),
    'copy waits for': `${copy?.acksMissing ?? 0}${copy?.granted === true ? ', granted' : ''}`,
    'copy is wanted': copy?.wanted ?? 'none',
    'copy waits for its turn': String(copy?.waitsForTurn ?? false),
    tokens: tokenWords(node.tokens(0)),
    home: home.state,
    'home has owner': node.countsTokens && home.owner === node.rank ? 'none' : rankWords(home.owner),
    'home has sharers': listed(holders),
    'home has invalidated': String(entry?.invalidated.length ?? 0),
    'home keeps': kinds(entry?.queue),
    'put off': kinds(deferred[0]?.[1]),
    starving: listed(
      starvers[0]?.[1].map(
        ({ rank, write, marked }) => `${rank} to ${write ? 'write' : 'read'}${marked ? ' (marked)' : ''}`,
      ),
    ),
  }
}

const rankWords = (rank = -1): string => (rank < 0 ? 'none' : String(rank))

const listed = (items: readonly (string | number)[] | undefined): string =>
  items === undefined || items.length === 0 ? 'none' : items.join(', ')

const tokenWords = ({ tokens, owner, valid }: { tokens: number; owner: boolean; valid: boolean }): string =>
  `${tokens}${owner ? ', the owner token' : ''}${valid ? ', the bytes' : ''}`

/** Writes down what a node asks of the world in words, too. */
class Teller extends EffectRecorder {
  readonly lines: string[] = []
  readonly #rank: number

  constructor(rank: number, messages: MessageTable) {
    super(rank, messages)
    this.#rank = rank
  }

  tell(line: string): void {
    this.lines.push(line)
  }

  override stored(page: number): void {
    this.tell('- stores')
    super.stored(page)
  }

  override send(to: number, message: CoherenceMessage): void {
    const { kind, requester, count, requesterFrame, homeFrame } = message
    const whose = requester === this.#rank ? '' : ` for ${requester}`
    const number = count === 0 ? '' : ` (${count})`
    this.tell(
      `- sends ${messageKindName(kind)}${number}${whose} to ${to}${frameWords('bytes', requesterFrame)}${frameWords('home', homeFrame)}`,
    )
    super.send(to, message)
  }

  override push(page: number, to: number, frame: FrameReference): void {
    this.tell(`- writes its bytes to ${to}`)
    super.push(page, to, frame)
  }

  override mapReadOnly(page: number): void {
    this.tell('- maps to read')
    super.mapReadOnly(page)
  }

  override mapWritable(page: number): void {
    this.tell('- maps to write')
    super.mapWritable(page)
  }

  override protect(page: number): void {
    this.tell('- protects')
    super.protect(page)
  }

  override unmap(page: number): void {
    this.tell('- unmaps')
    super.unmap(page)
  }

  override evicted(page: number): void {
    this.tell('- gives its frame back')
    super.evicted(page)
  }

  override failed(page: number): void {
    this.tell('- tells its program that the page cannot be had')
    super.failed(page)
  }
}

function frameWords(what: string, frame: FrameReference): string {
  const owner = ownerOfFrame(frame)
  return owner === undefined ? '' : `, ${what} at ${owner.node}`
}
