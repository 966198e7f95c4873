import { parseWay, wayText } from './action-text.ts'
import { cellsTaken } from './outcome.ts'
import { type Pose, parsePose, poseText } from './pose.ts'
import type { Action } from './world.ts'

/** A way through the states of a few nodes and one page, whose home is node 0, and what comes of its last step. */
export interface Play {
  readonly nodes: number
  /** Empty where a node is posed. */
  readonly way: readonly Action[]
  /** Instead of a way. */
  readonly pose?: Pose
  /** See `Outcomes`. */
  readonly outcome: readonly string[]
}

/** The cells that the last step of a play takes. */
export const cellsOfPlay = ({ outcome }: Play): string[] => cellsTaken(outcome)

/** A long way goes on in lines of their own, which are further in than what comes of it. */
const LINE_LENGTH_MAX = 120
const FURTHER = '\n    '

/** Plays as text to be read: a paragraph each. */
export function formatPlays(plays: readonly Play[]): string {
  return plays
    .map(({ nodes, way, pose, outcome }) => [
      wrapped(`${nodes} nodes: ${pose === undefined ? wayText(way) : poseText(pose)}`),
      ...outcome.map((line) => `  ${line}`),
    ])
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n')
}

function wrapped(head: string): string {
  const [first, ...others] = head.split(', ')
  return others.reduce((text, each) => {
    const line = text.length - text.lastIndexOf('\n') - 1
    return `${text},${line + 2 + each.length < LINE_LENGTH_MAX ? ' ' : FURTHER}${each}`
  }, first!)
}

/** The inverse of {@link formatPlays}. @throws RangeError where it is no such text. */
export function parsePlays(text: string): Play[] {
  return text
    .replaceAll(`,${FURTHER}`, ', ')
    .split('\n\n')
    .map((paragraph) => paragraph.split('\n').filter((line) => line.trim() !== ''))
    .filter((lines) => lines.length > 0)
    .map(([first, ...outcome]) => {
      const head = /^(\d) nodes: (.+)$/.exec(first!)
      if (head === null) throw new RangeError(`'${first}' does not begin a play`)
      const [, nodes, text] = head
      const pose = parsePose(text!)
      const what = pose === undefined ? { way: parseWay(text!) } : { way: [], pose }
      return { nodes: Number(nodes), ...what, outcome: outcome.map((line) => line.trim()) }
    })
}
