import { messageKindName } from 'aether-dsm/internal/dsm'
import { operationName } from './input.ts'
import { Lifelines } from './lifelines.ts'
import { Wait } from './program.ts'
import type { Action, World } from './world.ts'

/** A step on the way to a violation. The last may be what fails: it leads nowhere. */
export interface TraceStep {
  readonly before: Int32Array
  readonly action: Action
  readonly after: Int32Array | undefined
  readonly what: string | undefined
}

/**
 * A path through the states as a sequence diagram. Nodes are columns, and messages are arrows, drawn when they are
 * delivered. Below each step is what it changed at its node. That may be the state of the copy or of the directory
 * (`home`), the rights of the program, or waiting threads. `+bytes` are pushed ahead of a message; they are `stale` if
 * they are not those stored last.
 */
export function formatTrace(world: World, steps: readonly TraceStep[]): string {
  const { nodes, homes } = { nodes: world.model.nodes, homes: world.homes }
  const lines = new Lifelines(
    Array.from({ length: nodes }, (_, node) => {
      const pages = homes.flatMap((home, page) => (home === node ? [page] : []))
      return pages.length === 0 ? `node ${node}` : `node ${node}, home of ${pages.join(' and ')}`
    }),
  )
  for (const step of steps) draw(world, lines, step)
  const last = steps.at(-1)
  const left = last?.after ?? last?.before
  return [...lines.text(), ...(left === undefined ? [] : underWay(world, left))].join('\n')
}

function draw(world: World, lines: Lifelines, { before, action, after, what }: TraceStep): void {
  const actor = action.do === 'program' ? action.node : action.to
  if (action.do === 'program') {
    const { inputs } = world.locals
    lines.note(actor, `${operationName(inputs.operationOf(action.input))} ${inputs.pageOf(action.input)}`)
  } else {
    const { head } = heads(world, before, action.from, action.to)
    lines.arrow(action.from, action.to, `${head}${answers[action.do]}`)
  }
  if (after === undefined) lines.note(actor, `! ${what?.split(':')[0] ?? ''}`)
  else for (const change of changes(world, actor, before, after)) lines.note(actor, change)
}

function heads(world: World, vector: Int32Array, from: number, to: number): { head: string } {
  const channel = vector[world.channelAt(from, to)]!
  return { head: envelopeText(world, world.channels.head(channel)) }
}

function envelopeText(world: World, envelope: number): string {
  const { channels, messages } = world
  const { kind, page, count } = messages.at(channels.messageOf(envelope))
  const pushed = channels.pushedWith(envelope)
  const bytes = pushed === 0 ? '' : channels.freshWith(envelope) === pushed ? ' +bytes' : ' +stale bytes'
  return `${messageKindName(kind)} ${page}${count > 0 ? ` (${count})` : ''}${bytes}`
}

/** What a home says instead of an answer. */
const answers = { deliver: '', refuse: ' (no memory)', lose: ' (lost)' } as const

const rights = ['nothing', 'read', 'write']

function changes(world: World, node: number, before: Int32Array, after: Int32Array): string[] {
  const old = world.locals.at(before[node]!)
  const now = world.locals.at(after[node]!)
  const found: string[] = []
  const changed = (name: string, one: string, other: string): void => {
    if (one !== other) found.push(`${name} ${one} -> ${other}`)
  }
  world.homes.forEach((home, page) => {
    changed(`copy ${page}:`, old.node.copyState(page), now.node.copyState(page))
    if (home === node) changed(`home ${page}:`, old.node.directory(page).state, now.node.directory(page).state)
    changed(`may ${page}:`, rights[old.program.rights[page]!]!, rights[now.program.rights[page]!]!)
    for (const write of [false, true]) {
      const isDone = old.program.wait(page, write) !== Wait.None && now.program.wait(page, write) === Wait.None
      if (isDone) found.push(`${write ? 'stored' : 'loaded'} ${page}`)
    }
  })
  return found
}

/** What had been sent and not delivered at the end. */
function underWay(world: World, vector: Int32Array): string[] {
  const { nodes } = world.model
  const lines: string[] = []
  for (let from = 0; from < nodes; from += 1) {
    for (let to = 0; to < nodes; to += 1) {
      if (from === to) continue
      const envelopes = world.channels.contents(vector[world.channelAt(from, to)]!)
      if (envelopes.length === 0) continue
      lines.push(
        `under way from node ${from} to node ${to}: ${envelopes.map((each) => envelopeText(world, each)).join(', ')}`,
      )
    }
  }
  return lines
}
