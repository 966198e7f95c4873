import type { HistogramFrame } from '../src/dashboard/wire.ts'
import { CanvasStage, colour, FONT } from './canvas.ts'
import { countText, timeText } from './units.ts'

/** Parts of an octave, as in wire.ts. */
const PARTS = 4
const LEFT = 62
const RIGHT = 24
const TOP = 46
const BOTTOM = 34

/** The start of a part, in nanoseconds. */
export function partBegin(part: number): number {
  return 2 ** Math.floor(part / PARTS) * (1 + (part % PARTS) / PARTS)
}

/** A histogram as bars over a logarithmic axis of time, with marks for percentiles. A bar is as wide as its bucket. */
export class HistogramChart {
  readonly stage: CanvasStage = new CanvasStage('Distribution of the selected latency')

  draw(histogram: HistogramFrame | undefined): void {
    const context = this.stage.clear()
    context.font = FONT
    if (histogram === undefined || histogram.parts.length === 0) {
      context.fillStyle = colour('soft')
      context.textAlign = 'center'
      context.fillText('Nothing has been timed yet.', this.stage.width / 2, this.stage.height / 2)
      return
    }
    const bars = inPairs(histogram.parts)
    const first = Math.max(0, Math.min(...bars.map(([part]) => part)) - 2)
    const last = Math.max(first + 12, Math.max(...bars.map(([part]) => part)) + 3)
    const [from, to] = [Math.log2(partBegin(first)), Math.log2(partBegin(last))]
    const [right, bottom] = [this.stage.width - RIGHT, this.stage.height - BOTTOM]
    const x = (ns: number): number =>
      LEFT + ((right - LEFT) * Math.min(to - from, Math.max(0, Math.log2(Math.max(1, ns)) - from))) / (to - from)
    const most = Math.max(...bars.map(([, count]) => count))
    const y = (count: number): number => bottom - ((bottom - TOP) * count) / most
    this.#axes(context, from, to, most, x, y)
    for (const [part, count] of bars) {
      const [begin, end] = [x(partBegin(part)), x(partBegin(part + 1))]
      context.fillStyle = colour('accent')
      context.globalAlpha = 0.78
      // A bar is visible even if its count is small.
      const top = Math.min(y(count), bottom - 1.5)
      context.fillRect(begin + 0.5, top, Math.max(1, end - begin - 1), bottom - top)
      context.globalAlpha = 1
    }
    this.#marks(context, histogram, x, bottom)
    this.stage.canvas.dataset['bars'] = String(bars.length)
  }

  #axes(
    context: CanvasRenderingContext2D,
    from: number,
    to: number,
    most: number,
    x: (ns: number) => number,
    y: (count: number) => number,
  ): void {
    const { width, height } = this.stage
    context.lineWidth = 1
    context.textBaseline = 'middle'
    for (const share of [0, 0.5, 1]) {
      const at = Math.round(y(most * share)) + 0.5
      context.strokeStyle = colour('line')
      context.beginPath()
      context.moveTo(LEFT, at)
      context.lineTo(width - RIGHT, at)
      context.stroke()
      context.fillStyle = colour('soft')
      context.textAlign = 'right'
      context.fillText(countText(most * share), LEFT - 8, at)
    }
    context.textAlign = 'center'
    const decades = (to - from) * Math.log10(2)
    for (let power = 0; power < 13; power += 1)
      for (const digit of decades < 2.5 ? [1, 2, 5] : [1]) {
        const ns = digit * 10 ** power
        if (Math.log2(ns) < from || Math.log2(ns) > to) continue
        context.strokeStyle = colour('line')
        context.beginPath()
        context.moveTo(Math.round(x(ns)) + 0.5, TOP - 8)
        context.lineTo(Math.round(x(ns)) + 0.5, height - BOTTOM + 5)
        context.stroke()
        context.fillStyle = colour('soft')
        context.fillText(roundTime(ns), x(ns), height - BOTTOM + 16)
      }
  }

  /** Each label has a row of its own, so that they do not overlap. */
  #marks(
    context: CanvasRenderingContext2D,
    { p50Ns, p90Ns, p99Ns }: HistogramFrame,
    x: (ns: number) => number,
    bottom: number,
  ): void {
    const marks = [
      { name: 'p50', ns: p50Ns, of: 'good' },
      { name: 'p90', ns: p90Ns, of: 'written' },
      { name: 'p99', ns: p99Ns, of: 'bad' },
    ]
    marks.forEach(({ name, ns, of }, row) => {
      const at = Math.round(x(ns)) + 0.5
      const text = `${name} ${timeText(ns)}`
      context.strokeStyle = colour(of)
      context.lineWidth = 1.5
      context.beginPath()
      context.moveTo(at, 8 + row * 14)
      context.lineTo(at, bottom)
      context.stroke()
      const isRight = at + 8 + context.measureText(text).width < this.stage.width - 4
      context.textAlign = isRight ? 'left' : 'right'
      context.textBaseline = 'middle'
      context.lineWidth = 4
      context.strokeStyle = colour('card')
      context.strokeText(text, at + (isRight ? 6 : -6), 9 + row * 14)
      context.fillStyle = colour(of)
      context.fillText(text, at + (isRight ? 6 : -6), 9 + row * 14)
    })
  }
}

/**
 * Merges the histograms of several members. Percentiles assume an even spread within each part, of which only the count
 * is known.
 */
export function together(histograms: readonly HistogramFrame[]): HistogramFrame | undefined {
  const [first] = histograms
  if (first === undefined || histograms.length === 1) return first
  const sums = new Map<number, number>()
  for (const { parts } of histograms)
    for (const [part, count] of inPairs(parts)) sums.set(part, (sums.get(part) ?? 0) + count)
  const parts = [...sums].sort(([a], [b]) => a - b)
  const all = parts.reduce((sum, [, count]) => sum + count, 0)
  const count = histograms.reduce((sum, each) => sum + each.count, 0)
  const maxNs = Math.max(...histograms.map((each) => each.maxNs))
  const percentile = (share: number): number => {
    let left = Math.ceil(all * share)
    for (const [part, here] of parts) {
      const begin = partBegin(part)
      if (left <= here) return Math.min(maxNs, Math.round(begin + ((partBegin(part + 1) - begin) * left) / here))
      left -= here
    }
    return maxNs
  }
  return {
    ...first,
    count,
    meanNs: histograms.reduce((sum, each) => sum + each.meanNs * each.count, 0) / Math.max(1, count),
    p50Ns: percentile(0.5),
    p90Ns: percentile(0.9),
    p99Ns: percentile(0.99),
    maxNs,
    parts: parts.flat(),
  }
}

export function inPairs(numbers: readonly number[]): [number, number][] {
  const pairs: [number, number][] = []
  for (let at = 0; at + 1 < numbers.length; at += 2) pairs.push([numbers[at]!, numbers[at + 1]!])
  return pairs
}

function roundTime(ns: number): string {
  const units: readonly (readonly [number, string])[] = [
    [1e9, 's'],
    [1e6, 'ms'],
    [1e3, 'µs'],
  ]
  const [unit, name] = units.find(([each]) => ns >= each) ?? [1, 'ns']
  return `${ns / unit} ${name}`
}
