import { colour } from './canvas.ts'
import { make } from './dom.ts'

const [WIDTH, HEIGHT] = [110, 20]

/** A small line of values over time, for a row of a table; a null is a gap. */
export function sparkLine(values: readonly (number | null)[]): HTMLElement {
  const canvas = make('canvas', { class: 'spark line', 'aria-hidden': 'true' })
  canvas.width = WIDTH * devicePixelRatio
  canvas.height = HEIGHT * devicePixelRatio
  const context = canvas.getContext('2d')!
  context.scale(devicePixelRatio, devicePixelRatio)
  const most = Math.max(1e-9, ...values.map((value) => value ?? 0))
  const step = WIDTH / Math.max(1, values.length - 1)
  context.strokeStyle = colour('accent')
  context.lineWidth = 1.4
  context.beginPath()
  let isDown = false
  values.forEach((value, index) => {
    if (value === null) {
      isDown = false
      return
    }
    const [x, y] = [index * step, HEIGHT - 1.5 - (HEIGHT - 3) * (value / most)]
    if (isDown) context.lineTo(x, y)
    else context.moveTo(x, y)
    isDown = true
  })
  context.stroke()
  return canvas
}

/** A text over a bar of this share, 0 to 1. */
export function bar(text: string, share: number): HTMLElement {
  const fill = make('span', { class: 'fill' })
  fill.style.width = `${(100 * Math.min(1, Math.max(0, share))).toFixed(1)}%`
  return make('span', { class: 'bar' }, fill, make('span', { class: 'text' }, text))
}
