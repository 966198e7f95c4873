import type { PageEventFrame } from '../src/dashboard/wire.ts'
import { CanvasStage, colour, FONT, rankColour } from './canvas.ts'
import { timeText } from './units.ts'

const LEFT = 46
const RIGHT = 14
const TOP = 26
/** Pauses longer than this are folded, because related events are microseconds apart and others seconds. */
const FOLD_US = 1500
const FOLDED_US = 160

/**
 * The history of a page across ranks. Each rank has a lane, time goes from left to right, and messages are arrows
 * between the lanes.
 */
export class PageTimeline {
  readonly stage: CanvasStage = new CanvasStage('History of the page: a lane for each rank, messages as arrows')

  draw(events: readonly PageEventFrame[]): void {
    const context = this.stage.clear()
    const shown = events.slice(-70)
    context.font = FONT
    if (shown.length === 0) {
      context.fillStyle = colour('soft')
      context.textAlign = 'center'
      context.fillText(
        'Nothing has happened to this page since you started to watch.',
        this.stage.width / 2,
        this.stage.height / 2,
      )
      return
    }
    const ranks = [...new Set(shown.flatMap(({ rank, peer }) => (peer === null ? [rank] : [rank, peer])))].sort(
      (a, b) => a - b,
    )
    const lane = (rank: number): number =>
      TOP + 14 + (ranks.indexOf(rank) * (this.stage.height - TOP - 34)) / Math.max(1, ranks.length - 1)
    const { x, folds, labels } = scaleOf(shown, LEFT, this.stage.width - RIGHT)
    for (const rank of ranks) {
      context.strokeStyle = colour('line')
      context.lineWidth = 1
      context.beginPath()
      context.moveTo(LEFT, lane(rank))
      context.lineTo(this.stage.width - RIGHT, lane(rank))
      context.stroke()
      context.fillStyle = rankColour(rank)
      context.textAlign = 'right'
      context.textBaseline = 'middle'
      context.fillText(`rank ${rank}`, LEFT - 6, lane(rank))
    }
    this.#folds(context, folds, labels)
    for (const event of shown) this.#arrow(context, event, shown, x, lane)
    for (const event of shown) this.#mark(context, event, x(event), lane(event.rank))
    this.#waits(context, shown, x, lane)
  }

  #folds(context: CanvasRenderingContext2D, folds: readonly number[], labels: readonly string[]): void {
    context.textAlign = 'center'
    context.textBaseline = 'alphabetic'
    folds.forEach((at, index) => {
      context.setLineDash([3, 4])
      context.strokeStyle = colour('faint')
      context.beginPath()
      context.moveTo(at, TOP)
      context.lineTo(at, this.stage.height - 6)
      context.stroke()
      context.setLineDash([])
      const isFree = index === 0 || at - (folds[index - 1] ?? 0) > 52
      context.fillStyle = colour('faint')
      if (isFree) context.fillText(labels[index] ?? '', at, 16)
    })
  }

  /** An arrow from a sent message to the same message received. */
  #arrow(
    context: CanvasRenderingContext2D,
    event: PageEventFrame,
    events: readonly PageEventFrame[],
    x: (event: PageEventFrame) => number,
    lane: (rank: number) => number,
  ): void {
    if (event.what !== 'sent' || event.peer === null) return
    const got = events.find(
      (other) =>
        other.what === 'received' &&
        other.rank === event.peer &&
        other.peer === event.rank &&
        other.text === event.text &&
        other.atUs >= event.atUs,
    )
    if (got === undefined) return
    const [x1, y1, x2, y2] = [x(event), lane(event.rank), x(got), lane(got.rank)]
    const takesAway = /Invalidate|Forward/.test(event.text)
    const hasBytes = /Data|Answer|Owner/.test(event.text)
    context.strokeStyle = takesAway ? colour('bad') : hasBytes ? colour('written') : rankColour(event.rank, 0.75)
    context.fillStyle = context.strokeStyle
    context.lineWidth = hasBytes ? 2.4 : 1.3
    context.beginPath()
    context.moveTo(x1, y1)
    context.lineTo(x2, y2)
    context.stroke()
    const angle = Math.atan2(y2 - y1, x2 - x1)
    context.beginPath()
    context.moveTo(x2, y2)
    context.lineTo(x2 - 8 * Math.cos(angle - 0.4), y2 - 8 * Math.sin(angle - 0.4))
    context.lineTo(x2 - 8 * Math.cos(angle + 0.4), y2 - 8 * Math.sin(angle + 0.4))
    context.fill()
  }

  /** How long each thread waited, below the mark of the grant. The newest come first, as far as there is room. */
  #waits(
    context: CanvasRenderingContext2D,
    events: readonly PageEventFrame[],
    x: (event: PageEventFrame) => number,
    lane: (rank: number) => number,
  ): void {
    const taken: { readonly at: number; readonly y: number }[] = []
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    context.lineWidth = 4
    context.strokeStyle = colour('card')
    context.fillStyle = colour('good')
    for (const event of [...events].reverse()) {
      const [, microseconds] = /after ([\d.]+) µs/.exec(event.text) ?? []
      if (event.what !== 'granted' || microseconds === undefined) continue
      const [at, y] = [Math.min(this.stage.width - 32, x(event)), lane(event.rank) + 13]
      if (taken.some((other) => Math.abs(other.at - at) < 62 && Math.abs(other.y - y) < 12)) continue
      taken.push({ at, y })
      const text = timeText(1000 * Number(microseconds))
      context.strokeText(text, at, y)
      context.fillText(text, at, y)
    }
  }

  #mark(context: CanvasRenderingContext2D, { what, text }: PageEventFrame, x: number, y: number): void {
    if (what === 'sent' || what === 'received' || what === 'pushed' || what === 'home') return
    context.beginPath()
    context.arc(x, y, what === 'copy' ? 3.2 : 4.6, 0, 7)
    context.fillStyle = what === 'wanted' ? colour('card') : what === 'granted' ? colour('good') : colour('soft')
    context.fill()
    if (what !== 'wanted') return
    context.strokeStyle = text.includes('write') ? colour('written') : colour('one-reader')
    context.lineWidth = 2
    context.stroke()
  }
}

/** Maps time to pixels, with long pauses folded. Also returns the positions of the folds and their lengths. */
function scaleOf(events: readonly PageEventFrame[], left: number, right: number) {
  let at = 0
  const folded: { readonly at: number; readonly label: string }[] = []
  const places = new Map<PageEventFrame, number>()
  events.forEach((event, index) => {
    const pause = index === 0 ? 0 : event.atUs - events[index - 1]!.atUs
    if (pause > FOLD_US)
      folded.push({
        at: at + FOLDED_US / 2,
        label: pause >= 1e6 ? `${(pause / 1e6).toFixed(1)} s` : `${(pause / 1000).toFixed(0)} ms`,
      })
    // Marks must not overlap.
    at += pause > FOLD_US ? FOLDED_US : Math.max(index === 0 ? 0 : 9, pause)
    places.set(event, at)
  })
  const scale = (right - left - 12) / Math.max(1, at)
  return {
    x: (event: PageEventFrame): number => left + 6 + (places.get(event) ?? 0) * scale,
    folds: folded.map((fold) => left + 6 + fold.at * scale),
    labels: folded.map(({ label }) => label),
  }
}
