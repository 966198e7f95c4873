import { CanvasStage, colour, FONT } from './canvas.ts'
import { TimeAxis } from './time-axis.ts'

/** One line of a chart; a null is a gap. */
export interface Line {
  readonly values: readonly (number | null)[]
  readonly colour: string
  readonly fill?: boolean
}

/** The meaning of the values, and the text to show if there are none. */
export interface ChartUse {
  readonly label: string
  readonly format: (value: number) => string
  /** The factor between units. */
  readonly unit: 1000 | 1024
  readonly empty: string
}

const LEFT = 74
const BOTTOM = 24
const TOP = 8

/** Lines over time, the newest values at the right. */
export class Chart {
  readonly stage: CanvasStage = new CanvasStage('')

  /** `times` has the time of each value, in milliseconds. */
  draw(all: readonly Line[], times: readonly number[], { label, format, unit, empty }: ChartUse): void {
    if (this.stage.canvas.ariaLabel !== label) this.stage.canvas.ariaLabel = label
    const context = this.stage.clear()
    const { width, height } = this.stage
    const [right, bottom] = [width - 16, height - BOTTOM]
    const axis = new TimeAxis(times)
    const lines = all.map((line) => ({ ...line, values: line.values.slice(axis.first) }))
    const top = niceTop(Math.max(0, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))), unit)
    const y = (value: number): number => bottom - ((bottom - TOP) * value) / top
    const x = (index: number): number => right - (right - LEFT) * axis.back(axis.first + index)
    context.font = FONT
    context.lineWidth = 1
    for (let part = 0; part <= 4; part += 1) {
      const value = (top * part) / 4
      context.strokeStyle = colour('line')
      context.beginPath()
      context.moveTo(LEFT, Math.round(y(value)) + 0.5)
      context.lineTo(right, Math.round(y(value)) + 0.5)
      context.stroke()
      context.fillStyle = colour('soft')
      context.textAlign = 'right'
      context.textBaseline = 'middle'
      context.fillText(format(value), LEFT - 8, y(value))
    }
    context.textAlign = 'center'
    context.textBaseline = 'alphabetic'
    for (const { seconds, back } of axis.labels)
      context.fillText(
        seconds === 0 ? 'now' : `−${seconds} s`,
        right - (right - LEFT) * back + (seconds === 0 ? -8 : 0),
        height - 6,
      )
    if (lines.every(({ values }) => values.every((value) => value === null))) {
      context.fillStyle = colour('soft')
      context.fillText(empty, (LEFT + right) / 2, (TOP + bottom) / 2)
    }
    for (const line of lines) this.#line(context, line, x, y, bottom)
  }

  #line(
    context: CanvasRenderingContext2D,
    { values, colour: stroke, fill }: Line,
    x: (index: number) => number,
    y: (value: number) => number,
    bottom: number,
  ): void {
    context.strokeStyle = stroke
    context.lineWidth = 1.75
    context.lineJoin = 'round'
    context.beginPath()
    let isDown = false
    values.forEach((value, index) => {
      if (value === null) isDown = false
      else if (isDown) context.lineTo(x(index), y(value))
      else {
        context.moveTo(x(index), y(value))
        isDown = true
      }
    })
    context.stroke()
    if (fill !== true || values.length === 0) return
    context.lineTo(x(values.length - 1), bottom)
    context.lineTo(x(0), bottom)
    context.globalAlpha = 0.12
    context.fillStyle = stroke
    context.fill()
    context.globalAlpha = 1
  }
}

/** The next larger value with readable quarters, in the largest unit in which it is at least 1. */
function niceTop(value: number, unit: 1000 | 1024): number {
  if (value <= 0) return 1
  const of = value < 1 ? 1 : unit ** Math.floor(Math.log(value) / Math.log(unit) + 1e-9)
  const power = 10 ** Math.floor(Math.log10(value / of))
  const top = [1, 2, 4, 8, 10].map((part) => part * power * of).find((part) => part >= value) ?? value
  return unit === 1024 && top >= 1000 * of ? unit * of : top
}
