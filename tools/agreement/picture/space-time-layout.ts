import type { WorldEvent } from '../play/world.ts'

/** Heights, in pixels of the picture. */
const ROW = 15
/** Between what two steps of a lane do at one time, where neither shows anything itself. */
const SILENT_STEP = 6
const GAP_MIN = 30
const GAP_MAX = 170
const DELAY = 74

/** Where an event is drawn: from a point to another, or at one point. */
export interface PlacedEvent {
  readonly event: WorldEvent
  readonly from: Place
  readonly to: Place
}

interface Place {
  readonly lane: number
  readonly y: number
}

/** All that happens at one time. */
export interface Band {
  readonly at: number
  readonly top: number
  /** Where the last of it is drawn. */
  readonly end: number
  /** Several steps one after the other, although no time passes: the order that a seed has drawn. */
  readonly isOrdered: boolean
  /** Time that was cut out before it, because nothing happens then. */
  readonly cut: number
}

export interface Layout {
  readonly placed: readonly PlacedEvent[]
  readonly bands: readonly Band[]
  readonly height: number
}

/**
 * Places what happened in time, which runs downwards. Each time has a band, which is as high as what has to be read in
 * it. Between bands time is to scale, but long pauses are cut out, and short ones are drawn apart.
 *
 * Within a band, a lane has a row for each thing that it is told. What it sends in the same step leaves from there.
 * Where something is sent and arrives within one band, its steps are drawn one below the other in all lanes.
 */
export function layOut(events: readonly WorldEvent[], processes: number): Layout {
  const ends = events.map((event, index) => endsOf(event, index, processes))
  const times = [...new Set(ends.flatMap(({ from, to }) => [from.at, to.at]))].sort((one, other) => one - other)
  const scale = scaleOf(times)
  const members = new Map<number, { arrivals: End[]; departures: End[]; isOrdered: boolean }>(
    times.map((at) => [at, { arrivals: [], departures: [], isOrdered: false }]),
  )
  for (const { from, to } of ends) {
    members.get(to.at)!.arrivals.push(to)
    if (from === to) continue
    members.get(from.at)!.departures.push(from)
    if (from.at === to.at) members.get(to.at)!.isOrdered = true
  }
  const bands: Band[] = []
  const places = new Map<End, number>()
  let [y, before] = [0, times[0] ?? 0]
  for (const at of times) {
    const { arrivals, departures, isOrdered } = members.get(at)!
    const gap = (at - before) * scale
    const top = bands.length === 0 ? 0 : Math.max(y + GAP_MIN, bands.at(-1)!.top + Math.min(gap, GAP_MAX))
    const cut = gap > GAP_MAX ? at - before : 0
    y = top + placeBand(arrivals, departures, isOrdered, top, places)
    bands.push({ at, top, end: y, isOrdered, cut })
    before = at
  }
  const placed = ends.map(({ event, from, to }) => ({
    event,
    from: { lane: from.lane, y: places.get(from)! },
    to: { lane: to.lane, y: places.get(to)! },
  }))
  return { placed, bands, height: y }
}

/** One end of an event: the time, and the order within it. */
interface End {
  readonly lane: number
  readonly at: number
  readonly order: number
}

interface EventEnds {
  readonly event: WorldEvent
  readonly from: End
  readonly to: End
}

/** Without steps, things that arrive are in the order in which they were told, and what leaves comes after them. */
function endsOf(event: WorldEvent, index: number, processes: number): EventEnds {
  const to = { lane: targetOf(event, processes), at: event.at, order: event.step ?? index }
  const lane = sourceOf(event, processes)
  if (lane === undefined || !('sentAt' in event)) return { event, from: to, to }
  const order = event.sentStep ?? (event.sentAt === event.at ? index : Infinity)
  return { event, from: { lane, at: event.sentAt, order }, to }
}

function sourceOf(event: WorldEvent, processes: number): number | undefined {
  switch (event.type) {
    case 'message':
    case 'loss':
      return event.from
    case 'operation':
      return event.process
    case 'answer':
      return processes + event.memory
    default:
      return undefined
  }
}

function targetOf(event: WorldEvent, processes: number): number {
  switch (event.type) {
    case 'message':
    case 'loss':
      return event.to
    case 'operation':
      return processes + event.memory
    case 'crash':
      return event.process ?? processes + (event.memory ?? 0)
    default:
      return event.process
  }
}

/** Pixels for a unit of time. In real time, a pause of median length is as high as half a delay of the model. */
function scaleOf(times: readonly number[]): number {
  const pauses = times.slice(1).map((at, index) => at - times[index]!)
  if (pauses.every((pause) => Number.isInteger(pause))) return DELAY
  pauses.sort((one, other) => one - other)
  return DELAY / 2 / pauses[pauses.length >> 1]!
}

/** Places what belongs to one time, and returns its height. */
function placeBand(
  arrivals: readonly End[],
  departures: readonly End[],
  isOrdered: boolean,
  top: number,
  places: Map<End, number>,
): number {
  const steps = new Map<string, Step>()
  const stepOf = ({ lane, order }: End): Step => {
    const key = `${lane} ${order}`
    let step = steps.get(key)
    if (step === undefined) {
      step = { lane, order, arrivals: [], departures: [] }
      steps.set(key, step)
    }
    return step
  }
  for (const end of arrivals) stepOf(end).arrivals.push(end)
  for (const end of departures) stepOf(end).departures.push(end)
  const heights = new Map<number, number>()
  for (const step of [...steps.values()].sort((one, other) => one.order - other.order)) {
    const lane = isOrdered ? 0 : step.lane
    const used = heights.get(lane)
    const isSilent = step.arrivals.length === 0
    let y = used === undefined ? 0 : used + (isSilent && !isOrdered ? SILENT_STEP : ROW)
    for (const [index, end] of step.arrivals.entries()) {
      if (index > 0) y += ROW
      places.set(end, top + y)
    }
    for (const end of step.departures) places.set(end, top + y)
    heights.set(lane, y)
  }
  return Math.max(...heights.values())
}

/** What a lane does in one step: what it is told in it, and what it sends. */
interface Step {
  readonly lane: number
  readonly order: number
  readonly arrivals: End[]
  readonly departures: End[]
}
