import type { WorldEvent } from '../play/world.ts'
import { eventLabel, eventTitle, shortened, type TimeUnit, timeText } from './event-text.ts'
import { type Band, type Layout, layOut, type PlacedEvent } from './space-time-layout.ts'
import { legendSamples, spaceTimeStyle } from './space-time-style.ts'

/** A play to be drawn. */
export interface SpaceTimePlay {
  /** The algorithm, as `Disk Paxos`. */
  readonly title: string
  readonly processes: number
  readonly memories: number
  /** What stands below the name of each process, as what it proposes. */
  readonly processNotes?: readonly string[]
  /** The same for memories. */
  readonly memoryNotes?: readonly string[]
  readonly unit: TimeUnit
  readonly events: readonly WorldEvent[]
}

/** A diagram in two parts, so that a page can keep the names of the lanes in sight. */
export interface SpaceTimeDiagram {
  readonly width: number
  readonly head: string
  readonly headHeight: number
  readonly body: string
  readonly bodyHeight: number
}

const AXIS = 78
const LANE = 172
const LANE_FIRST = AXIS + 34
const HEAD = 62
const MARGIN = 26
/** Letters of a label that fit between two lanes. */
const LABEL_MAX = 22
const AXIS_LABEL_MIN = 13

const laneX = (lane: number): number => LANE_FIRST + lane * LANE
const round = (value: number): string => `${Math.round(value * 10) / 10}`

/** Text as it may stand in HTML and SVG, in attributes too. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`)

/** Draws a play: a lane for each process and memory, time downwards, and slanted arrows for what takes time. */
export function spaceTimeDiagram(play: SpaceTimePlay): SpaceTimeDiagram {
  const layout = layOut(play.events, play.processes)
  const width = laneX(play.processes + play.memories - 1) + LANE
  const bodyHeight = layout.height + 2 * MARGIN
  const parts = [
    ...axisOf(layout.bands, play.unit, width),
    ...lanesOf(play, layout, bodyHeight),
    ...layout.placed.map((each) => drawn(each, play)),
    // Above all arrows.
    ...layout.placed.flatMap((each) => labelOf(each, play)),
  ]
  return { width, head: headOf(play), headHeight: HEAD, body: parts.join('\n'), bodyHeight }
}

/** The diagram as a file of its own, with its names and a legend. */
export function spaceTimeSvg(play: SpaceTimePlay): string {
  const { width, head, headHeight, body, bodyHeight } = spaceTimeDiagram(play)
  const legend = legendSamples(play.events)
  const [legendTop, legendHeight] = [headHeight + bodyHeight, 34]
  const height = legendTop + legendHeight
  const samples = legend.map(
    ({ sample, text }, index) =>
      `<g transform="translate(${LANE_FIRST - 22 + index * 118} ${legendTop + 16})">${sample}<text class="note" x="34" y="4">${text}</text></g>`,
  )
  const wide = Math.max(width, LANE_FIRST + legend.length * 118)
  return `<svg xmlns="http://www.w3.org/2000/svg" class="space-time" viewBox="0 0 ${wide} ${height}" width="${wide}" height="${height}" role="img" aria-label="${escaped(`${play.title}: space-time diagram`)}">
<style>${spaceTimeStyle}</style>
<rect class="ground" width="${wide}" height="${height}"/>
${head}
<g transform="translate(0 ${headHeight})">
${body}
</g>
${samples.join('\n')}
</svg>
`
}

function headOf(play: SpaceTimePlay): string {
  const names = [
    ...namesOf('process', 'P', play.processes, play.processNotes),
    ...namesOf('memory', 'M', play.memories, play.memoryNotes),
  ]
  const boxes = names.map(({ kind, name, note }, lane) => {
    const x = laneX(lane)
    const box = `<rect class="${kind}-box" x="${x - 20}" y="10" width="40" height="26" rx="${kind === 'process' ? 13 : 4}"/>`
    return `<g class="name">${box}<text class="${kind}-name" x="${x}" y="28">${name}</text><text class="note middle" x="${x}" y="53">${escaped(shortened(note, LABEL_MAX))}</text></g>`
  })
  return [`<text class="note end" x="${AXIS - 12}" y="28">${play.unit}</text>`, ...boxes].join('\n')
}

interface LaneName {
  readonly kind: 'process' | 'memory'
  readonly name: string
  readonly note: string
}

function namesOf(kind: LaneName['kind'], letter: string, count: number, notes: readonly string[] = []): LaneName[] {
  return Array.from({ length: count }, (_, index) => ({ kind, name: `${letter}${index}`, note: notes[index] ?? '' }))
}

/** Times as lines across, with as many labels as have room. */
function axisOf(bands: readonly Band[], unit: TimeUnit, width: number): string[] {
  let labelled = -Infinity
  return bands.flatMap(({ at, top, end, isOrdered, cut }) => {
    const y = top + MARGIN
    const parts = [`<line class="time" x1="${AXIS - 6}" x2="${width - 12}" y1="${round(y)}" y2="${round(y)}"/>`]
    if (isOrdered && end > top)
      parts.push(
        `<line class="ordered" x1="${AXIS - 6}" x2="${AXIS - 6}" y1="${round(y)}" y2="${round(end + MARGIN)}"><title>No time passes here: all is drawn in the order in which it happens.</title></line>`,
      )
    if (cut > 0) {
      const text = `${timeText(cut, unit)} in which nothing happens`
      parts.push(
        `<g class="cut"><title>${text}</title><text class="note end" x="${AXIS - 12}" y="${round(y - 44)}">⋮</text></g>`,
      )
    }
    if (y - labelled >= AXIS_LABEL_MIN) {
      labelled = y
      const label = unit === 'ms' ? at.toFixed(2) : `${Number(at.toFixed(2))}`
      parts.push(`<text class="at" x="${AXIS - 12}" y="${round(y + 4)}">${label}</text>`)
    }
    return parts
  })
}

/** A line for each lane, as long as it is up, and dots afterwards. */
function lanesOf({ processes, memories }: SpaceTimePlay, { placed }: Layout, bottom: number): string[] {
  return Array.from({ length: processes + memories }, (_, lane) => {
    const crash = placed.find(({ event, to }) => event.type === 'crash' && to.lane === lane)
    const end = crash === undefined ? bottom : crash.to.y + MARGIN
    const kind = lane < processes ? 'process' : 'memory'
    const x = laneX(lane)
    const up = `<line class="lane ${kind}" x1="${x}" x2="${x}" y1="0" y2="${round(end)}"/>`
    return crash === undefined
      ? up
      : `${up}<line class="lane down" x1="${x}" x2="${x}" y1="${round(end)}" y2="${bottom}"/>`
  })
}

function drawn(placed: PlacedEvent, { unit }: SpaceTimePlay): string {
  const { event, from, to } = placed
  const [x, y] = [laneX(to.lane), to.y + MARGIN]
  const isMark = from.lane === to.lane && from.y === to.y
  const shape = isMark ? markOf(event, x, y) : arrowOf(event, laneX(from.lane), from.y + MARGIN, x, y)
  return `<g class="event ${classOf(event)}"${dataOf(event)}>${titleOf(event, unit)}${shape}</g>`
}

const titleOf = (event: WorldEvent, unit: TimeUnit): string => `<title>${escaped(eventTitle(event, unit))}</title>`

/** On the right of where it happens: above what leaves from there, and below what arrives from there. */
function labelOf({ event, from, to }: PlacedEvent, { unit }: SpaceTimePlay): string[] {
  const label = shortened(eventLabel(event), LABEL_MAX)
  if (label === '') return []
  const [x, y] = [laneX(to.lane) + 9, to.y + MARGIN + (from.lane > to.lane ? 11 : -3)]
  return [
    `<text class="label ${classOf(event)}" x="${x}" y="${round(y)}">${titleOf(event, unit)}${escaped(label)}</text>`,
  ]
}

/** What kind of event it is, for colours and for what is shown: `operation write refused`. */
export function classOf(event: WorldEvent): string {
  if (event.type === 'answer') return event.answer?.ok === false ? 'answer refused' : 'answer'
  if (event.type !== 'operation') return event.type
  return `operation ${event.operation.do}${event.ok ? '' : ' refused'}`
}

/** What happened, for programs that read the picture. */
function dataOf(event: WorldEvent): string {
  const fields: Record<string, string | number> = { at: event.at }
  if ('sentAt' in event) fields['sent'] = event.sentAt
  if ('from' in event) [fields['from'], fields['to']] = [`P${event.from}`, `P${event.to}`]
  else if ('memory' in event && 'process' in event && event.process !== undefined) {
    const ends = [`P${event.process}`, `M${event.memory}`] as const
    ;[fields['from'], fields['to']] = event.type === 'answer' ? [ends[1], ends[0]] : ends
  } else
    fields['lane'] = event.process === undefined ? `M${'memory' in event ? event.memory : ''}` : `P${event.process}`
  return Object.entries(fields)
    .map(([name, value]) => ` data-${name}="${value}"`)
    .join('')
}

function arrowOf(event: WorldEvent, fromX: number, fromY: number, toX: number, toY: number): string {
  if (fromX === toX) {
    const path = `M${fromX} ${round(fromY)}C${fromX - 46} ${round(fromY)} ${toX - 46} ${round(toY)} ${toX - 9} ${round(toY)}`
    return `${pathOf(path)}${headAt(toX, toY, 0)}`
  }
  const isLost = event.type === 'loss'
  const [endX, endY] = isLost ? [(fromX + toX) / 2, (fromY + toY) / 2] : [toX, toY]
  const angle = Math.atan2(endY - fromY, endX - fromX)
  // A line ends in the middle of its head.
  const [shortX, shortY] = isLost ? [endX, endY] : [endX - 7 * Math.cos(angle), endY - 7 * Math.sin(angle)]
  const path = pathOf(`M${fromX} ${round(fromY)}L${round(shortX)} ${round(shortY)}`)
  const refused = event.type === 'operation' && !event.ok
  return `${path}${isLost || refused ? crossAt(endX, endY) : headAt(endX, endY, angle)}`
}

/** A line, and below it a broad one that is not seen: something to point at. */
const pathOf = (path: string): string => `<path class="near" d="${path}"/><path class="line" d="${path}"/>`

function headAt(x: number, y: number, angle: number): string {
  const at = (length: number, turn: number): string =>
    `${round(x - length * Math.cos(angle + turn))} ${round(y - length * Math.sin(angle + turn))}`
  return `<path class="head" d="M${round(x)} ${round(y)}L${at(10, 0.36)} ${at(10, -0.36)}Z"/>`
}

const crossAt = (x: number, y: number): string =>
  `<path class="cross" d="M${round(x - 5)} ${round(y - 5)}l10 10m0 -10l-10 10"/>`

function markOf(event: WorldEvent, x: number, y: number): string {
  if (event.type === 'crash') return crossAt(x, y)
  if (event.type === 'decide') return `<path class="head" d="M${x} ${round(y - 7)}l7 7l-7 7l-7 -7Z"/>`
  return `<circle class="ring" cx="${x}" cy="${round(y)}" r="5"/>`
}
