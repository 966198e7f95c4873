import {
  type CoherenceMessage,
  CoherenceNode,
  MessageKind,
  messageKindName,
  noFrame,
  type Protocol,
} from 'aether-dsm/internal/dsm'
import { Lifelines } from './lifelines.ts'
import { frameOf, MessageTable } from './message-table.ts'
import type { Stepping } from './node-step.ts'
import { Program } from './program.ts'
import { EffectRecorder } from './recorder.ts'

/**
 * A node that is put into a state by hand, and a message that arrives. It serves for a cell without a known path,
 * although no argument excludes one.
 */
export interface Pose {
  readonly rank: number
  /** The state of its copy. */
  readonly state: string
  readonly tokens: number
  readonly owner: boolean
  readonly valid: boolean
  readonly kind: MessageKind
  readonly from: number
  /** The tokens that come. */
  readonly count: number
}

/** The node and the message, among `nodes` nodes, of which node 0 is the home. */
export function posed(
  protocol: Protocol,
  nodes: number,
  pose: Pose,
): Stepping & { readonly message: CoherenceMessage } {
  const { rank, state, tokens, owner, valid, kind, from, count } = pose
  const port = new EffectRecorder(rank, new MessageTable())
  const node = new CoherenceNode({ rank, ranks: nodes, protocol, homeOf: () => 0, port })
  const copy = { acksMissing: 0, granted: false, wanted: 'none', waitsForTurn: false, tokens, owner, valid } as const
  const states = Object.keys(protocol.cache.states)
  node.restore({
    copies: [[0, { ...copy, state: states.indexOf(state) }]],
    entries: [],
    deferred: [],
    starvers: [],
  })
  const program = new Program(1, 'many', 1)
  program.take(0, protocol.cache.states[state]!.right)
  const frames = {
    requesterFrame: frameOf(from, 0),
    homeFrame: kind === MessageKind.ForwardShared ? frameOf(0, 0) : noFrame,
  }
  // Home asks on behalf of others.
  const sender = kind === MessageKind.ForwardShared ? 0 : from
  return { node, program, message: { kind, page: 0, from: sender, requester: from, count, ...frames } }
}

/** A pose as a diagram. */
export function poseTrace(nodes: number, pose: Pose): string {
  const titles = Array.from({ length: nodes }, (_, node) => (node === 0 ? 'node 0, home of 0' : `node ${node}`))
  const lines = new Lifelines(titles)
  lines.note(pose.rank, `posed: ${pose.state}, ${holdingText(pose)}`)
  lines.arrow(pose.from, pose.rank, messageKindName(pose.kind))
  return lines.text().join('\n')
}

const head = /^node (\d) posed in (\S+) with (\d)(, the owner token)?(, the bytes)?; (\w+)(?: \((\d)\))? for (\d)$/

/** `node 3 posed in SM_P with 1, the owner token, the bytes; ActivateShared for 1`. */
export const poseText = (pose: Pose): string =>
  `node ${pose.rank} posed in ${pose.state} with ${holdingText(pose)}; ${messageKindName(pose.kind)}${pose.count === 0 ? '' : ` (${pose.count})`} for ${pose.from}`

/** Undefined if the text is not a pose. */
export function parsePose(text: string): Pose | undefined {
  const match = head.exec(text)
  if (match === null) return undefined
  const [, rank, state, tokens, owner, valid, name, count, from] = match
  const kind = (MessageKind as Readonly<Record<string, MessageKind>>)[name!]
  if (kind === undefined) throw new RangeError(`'${name}' is no message`)
  return {
    rank: Number(rank),
    state: state!,
    tokens: Number(tokens),
    owner: owner !== undefined,
    valid: valid !== undefined,
    kind,
    from: Number(from),
    count: Number(count ?? 0),
  }
}

const holdingText = ({ tokens, owner, valid }: Pose): string =>
  `${tokens}${owner ? ', the owner token' : ''}${valid ? ', the bytes' : ''}`
