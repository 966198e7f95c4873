import type { LinkFrame } from '../src/dashboard/wire.ts'
import { CanvasStage, colour, FONT, inkOn, rankColour } from './canvas.ts'
import { rateText } from './units.ts'

/** A link by its ends. */
export interface Ends {
  readonly from: number
  readonly to: number
}

interface Geometry {
  readonly cell: number
  readonly left: number
  readonly top: number
}

/** Traffic between nodes: a cell for each pair. Rows send to columns. */
export class Matrix {
  readonly stage: CanvasStage = new CanvasStage('Bytes per second from each node (rows) to each other node (columns)')
  #nodes: readonly number[] = []

  draw(nodes: readonly number[], links: readonly LinkFrame[], chosen: Ends | undefined): void {
    this.#nodes = nodes
    const context = this.stage.clear()
    const { cell, left, top } = this.#geometry()
    const most = Math.max(1, ...links.map(({ bytes }) => bytes))
    const at = new Map(nodes.map((node, index) => [node, index]))
    const gap = cell > 8 ? 2 : cell > 3 ? 1 : 0
    const square = (row: number, column: number): readonly [number, number, number, number] => [
      left + column * cell,
      top + row * cell,
      cell - gap,
      cell - gap,
    ]
    this.#label(context, nodes)
    for (let row = 0; row < nodes.length; row += 1)
      for (let column = 0; column < nodes.length; column += 1) {
        context.fillStyle = row === column ? colour('ground') : colour('untouched')
        context.fillRect(...square(row, column))
      }
    for (const { from, to, bytes } of links) {
      const [row, column] = [at.get(from), at.get(to)]
      if (row === undefined || column === undefined || bytes <= 0) continue
      const share = 0.1 + 0.9 * Math.sqrt(bytes / most)
      context.fillStyle = rankColour(from, share)
      context.fillRect(...square(row, column))
      if (cell < 52) continue
      context.fillStyle = inkOn(from, share)
      const [number = '', unit = ''] = rateText(bytes).split(' ')
      const [x, y] = [left + (column + 0.5) * cell - gap / 2, top + (row + 0.5) * cell]
      context.fillText(number, x, y - 7)
      context.fillText(unit, x, y + 8)
    }
    const [row, column] = [at.get(chosen?.from ?? -1), at.get(chosen?.to ?? -1)]
    if (row === undefined || column === undefined) return
    context.strokeStyle = colour('ink')
    context.lineWidth = 2
    const [x, y, width, height] = square(row, column)
    context.strokeRect(x - 1, y - 1, width + 2, height + 2)
  }

  /** The first link. */
  get first(): Ends | undefined {
    return this.#link(0, 1)
  }

  /** The link at this point of the stage. */
  at(x: number, y: number): Ends | undefined {
    const { cell, left, top } = this.#geometry()
    return this.#link(Math.floor((y - top) / cell), Math.floor((x - left) / cell))
  }

  /** The link next to another. It skips the diagonal, because no node sends to itself. */
  beside({ from, to }: Ends, down: number, right: number): Ends | undefined {
    let [row, column] = [this.#nodes.indexOf(from), this.#nodes.indexOf(to)]
    do [row, column] = [row + down, column + right]
    while (row === column && row >= 0 && row < this.#nodes.length)
    return this.#link(row, column)
  }

  #link(row: number, column: number): Ends | undefined {
    const [from, to] = [this.#nodes[row], this.#nodes[column]]
    return from === undefined || to === undefined || from === to ? undefined : { from, to }
  }

  #label(context: CanvasRenderingContext2D, nodes: readonly number[]): void {
    const { cell, left, top } = this.#geometry()
    context.font = FONT
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    context.fillStyle = colour('soft')
    const every = Math.ceil(16 / cell)
    nodes.forEach((node, index) => {
      if (index % every !== 0) return
      context.fillText(String(node), left + (index + 0.5) * cell, top - 12)
      context.fillText(String(node), left - 14, top + (index + 0.5) * cell)
    })
  }

  #geometry(): Geometry {
    const { width, height } = this.stage
    const count = Math.max(1, this.#nodes.length)
    const cell = Math.min(128, (Math.min(width, height) - 52) / count)
    return {
      cell,
      left: Math.max(36, (width - cell * count) / 2),
      top: Math.max(30, (height - cell * count) / 2 - 10),
    }
  }
}
