import type { Setting } from '../model/algorithm.ts'
import type { WorldEvent } from '../play/world.ts'
import { dataText, operationText, shortened, type TimeUnit } from './event-text.ts'

const LANE = 5
const TEXT_MAX = 48

/** What a play did, as a sequence chart: a lane for each process and memory, a row for each thing that happened. */
export function sequenceChart(
  events: readonly WorldEvent[],
  { processes, memories }: Setting,
  unit: TimeUnit = 'delays',
): string {
  const lanes = processes + memories
  const names = Array.from({ length: lanes }, (_, lane) =>
    lane < processes ? `P${lane}` : `M${lane - processes}`,
  ).map((name) => name.padStart(3).padEnd(LANE))
  const down = new Set<number>()
  const rows = events.flatMap((event) => {
    const row = rowOf(event, processes)
    if (row === undefined) return []
    const line = lineOf(row, lanes, down)
    if (event.type === 'crash') down.add(row.to)
    return `${event.at.toFixed(unit === 'ms' ? 2 : 0).padStart(6)}  ${line}  ${row.text}`.trimEnd()
  })
  return [`${unit.padEnd(6)}  ${names.join('').trimEnd()}`, ...rows].join('\n')
}

interface Row {
  readonly from: number
  readonly to: number
  /** What stands at the end of the arrow, or in the lane. */
  readonly mark: string
  readonly text: string
}

/** Answers of memories are left out: what was carried out shows them. */
function rowOf(event: WorldEvent, processes: number): Row | undefined {
  switch (event.type) {
    case 'message':
      return { from: event.from, to: event.to, mark: '●', text: shortened(dataText(event.message), TEXT_MAX) }
    case 'loss':
      return {
        from: event.from,
        to: event.to,
        mark: '✗',
        text: shortened(`lost: ${dataText(event.message)}`, TEXT_MAX),
      }
    case 'operation': {
      const memory = processes + event.memory
      const text = `${operationText(event.operation)}${event.ok ? '' : ': refused'}`
      return { from: event.process, to: memory, mark: event.ok ? '●' : '✗', text: shortened(text, TEXT_MAX) }
    }
    case 'answer':
      return undefined
    case 'decide':
      return { from: event.process, to: event.process, mark: '◆', text: `decides ${event.value}` }
    case 'lead':
      return { from: event.process, to: event.process, mark: '○', text: `takes P${event.leader} for the leader` }
    case 'crash': {
      const lane = event.process ?? processes + (event.memory ?? 0)
      return { from: lane, to: lane, mark: '✗', text: 'crashes' }
    }
  }
}

/** A row of lanes with an arrow between two of them. Of those that have crashed only dots are left. */
function lineOf({ from, to, mark }: Row, lanes: number, down: ReadonlySet<number>): string {
  const middle = (lane: number): number => lane * LANE + 1
  const cells: string[] = new Array<string>(lanes * LANE).fill(' ')
  for (let lane = 0; lane < lanes; lane += 1) cells[middle(lane)] = down.has(lane) ? '·' : '│'
  const [begin, end] = [middle(from), middle(to)]
  const step = Math.sign(end - begin)
  for (let at = begin; at !== end; at += step === 0 ? 1 : step) cells[at] = cells[at] === ' ' ? '─' : '┼'
  if (step !== 0) {
    cells[begin] = step > 0 ? '├' : '┤'
    cells[end - step] = step > 0 ? '>' : '<'
  }
  cells[end] = mark
  return cells
    .join('')
    .trimEnd()
    .padEnd(lanes * LANE)
}
