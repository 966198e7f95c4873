import { CanvasStage, colour, FONT, rankColour } from './canvas.ts'

/**
 * Classes of a page's state, in the order of `PageClass` in src/dashboard/wire.ts, with their colours in the style
 * sheet.
 */
export const classes = [
  { name: 'untouched', colour: 'untouched' },
  { name: 'at home', colour: 'at-home' },
  { name: 'one reader', colour: 'one-reader' },
  { name: 'shared', colour: 'shared' },
  { name: 'written', colour: 'written' },
  { name: 'in transit', colour: 'moving' },
] as const

/** Space below the grid for the hint about keys. */
const FOOT = 28
const SCALE_MAX = 72

/**
 * A region as a grid of its pages, from one to a million. It is a picture with one pixel for each page, which the
 * canvas shrinks or magnifies. Only the pages that have changed are painted again. Large cells have gaps and show the
 * owner.
 */
export class PageGrid {
  readonly stage: CanvasStage = new CanvasStage('Pages of the region. Arrow keys select a page, plus and minus zoom')
  byOwner = false
  hovered = -1
  chosen = -1
  #states: Uint16Array = new Uint16Array(0)
  #columns = 1
  #picture = document.createElement('canvas')
  #pixels = new ImageData(1, 1)
  #scale = 0
  #x = 0
  #y = 0
  #isDirty = true
  /** Rows of the picture whose pixels have changed. */
  #firstRow = Number.POSITIVE_INFINITY
  #lastRow = -1
  #pixels32 = new Uint32Array(1)
  /** Pixels by state, or by class; 0 if not computed yet, because no pixel is fully transparent. */
  readonly #palette = new Uint32Array(65_536)

  /** Show another region, or the same one in other colours. */
  show(states: Uint16Array): void {
    const isOther = states.length !== this.#states.length
    this.#states = states
    this.#columns = Math.max(1, Math.ceil(Math.sqrt(states.length * 1.35)))
    if (isOther) {
      this.#picture = document.createElement('canvas')
      this.#picture.width = this.#columns
      this.#picture.height = Math.max(1, Math.ceil(states.length / this.#columns))
      this.#pixels = new ImageData(this.#picture.width, this.#picture.height)
      this.#pixels32 = new Uint32Array(this.#pixels.data.buffer)
      this.#scale = 0
      this.hovered = -1
    }
    this.repaint()
  }

  /** Paint everything again, after a change of colours. */
  repaint(): void {
    this.#palette.fill(0)
    this.#paint(0, this.#states.length)
  }

  /** Paint these blocks of 256 pages again. */
  changed(blocks: readonly number[]): void {
    let painted = 0
    for (const block of blocks) {
      const [from, to] = [block * 256, Math.min(this.#states.length, (block + 1) * 256)]
      this.#paint(from, to)
      painted += Math.max(0, to - from)
    }
    this.stage.canvas.dataset['painted'] = String(painted)
  }

  /** The page at a point of the canvas; -1 if there is none. */
  pageAt(x: number, y: number): number {
    const [column, row] = [Math.floor((x - this.#x) / this.#scale), Math.floor((y - this.#y) / this.#scale)]
    const page = row * this.#columns + column
    return column >= 0 && column < this.#columns && row >= 0 && page < this.#states.length ? page : -1
  }

  zoom(factor: number, x: number = this.stage.width / 2, y: number = this.stage.height / 2): void {
    if (this.#scale === 0) this.#place()
    const next = Math.min(SCALE_MAX, Math.max(this.#fitting(), this.#scale * factor))
    this.#x = x - ((x - this.#x) * next) / this.#scale
    this.#y = y - ((y - this.#y) * next) / this.#scale
    this.#scale = next
    this.#isDirty = true
  }

  move(dx: number, dy: number): void {
    this.#x += dx
    this.#y += dy
    this.#isDirty = true
  }

  /** Show the whole region. */
  fit(): void {
    this.#scale = 0
    this.#isDirty = true
  }

  /** Scroll to a page, and zoom in if it is too small to see. */
  reveal(page: number): void {
    if (this.#scale < 14) this.zoom(22 / this.#scale)
    this.#x = this.stage.width / 2 - ((page % this.#columns) + 0.5) * this.#scale
    this.#y = this.stage.height / 2 - (Math.floor(page / this.#columns) + 0.5) * this.#scale
    this.#isDirty = true
  }

  get columns(): number {
    return this.#columns
  }

  touch(): void {
    this.#isDirty = true
  }

  draw(): void {
    const { clientWidth, clientHeight } = this.stage.element
    if (!this.#isDirty && clientWidth === this.stage.width && clientHeight === this.stage.height) return
    this.#isDirty = false
    const context = this.stage.clear()
    if (this.#states.length === 0) return
    this.#place()
    this.#putPixels()
    const scale = this.#scale
    context.imageSmoothingEnabled = scale < 1
    context.imageSmoothingQuality = 'medium'
    context.drawImage(this.#picture, this.#x, this.#y, this.#picture.width * scale, this.#picture.height * scale)
    if (scale >= 6) this.#gaps(context)
    if (scale >= 26) this.#labels(context)
    if (this.hovered >= 0) this.#frame(context, this.hovered, colour('ink'))
    if (this.chosen >= 0) this.#frame(context, this.chosen, colour('accent'))
  }

  #fitting(): number {
    const { width, height } = this.stage
    return Math.min(SCALE_MAX / 2, (width - 24) / this.#picture.width, (height - 24 - FOOT) / this.#picture.height)
  }

  #place(): void {
    const { width, height } = this.stage
    const isNew = this.#scale === 0
    const fitting = this.#fitting()
    if (isNew || this.#scale < fitting) this.#scale = fitting
    const [wide, high] = [this.#picture.width * this.#scale, this.#picture.height * this.#scale]
    this.#x = wide <= width ? (width - wide) / 2 : Math.min(12, Math.max(width - wide - 12, this.#x))
    this.#y =
      high <= height ? Math.max(0, (height - FOOT - high) / 2) : Math.min(12, Math.max(height - high - 12, this.#y))
  }

  #paint(from: number, to: number): void {
    if (to <= from) return
    const [pixels, palette, states, mask] = [this.#pixels32, this.#palette, this.#states, this.byOwner ? 65_535 : 15]
    for (let page = from; page < to; page += 1) {
      const key = states[page]! & mask
      pixels[page] = palette[key]! || this.#pixel(key)
    }
    this.#firstRow = Math.min(this.#firstRow, Math.floor(from / this.#columns))
    this.#lastRow = Math.max(this.#lastRow, Math.floor((to - 1) / this.#columns))
    this.#isDirty = true
  }

  #putPixels(): void {
    if (this.#lastRow < 0) return
    const [first, rows] = [this.#firstRow, this.#lastRow - this.#firstRow + 1]
    this.#picture.getContext('2d')!.putImageData(this.#pixels, 0, 0, 0, first, this.#columns, rows)
    this.#firstRow = Number.POSITIVE_INFINITY
    this.#lastRow = -1
  }

  #pixel(state: number): number {
    const kind = classes[state & 15] ?? classes[0]
    const owner = (state >> 4) - 1
    const alphas = [0, 0.35, 0.6, 0.55, 1, 0.8]
    const text =
      this.byOwner && owner >= 0 && (state & 15) > 0 ? rankColour(owner, alphas[state & 15]) : colour(kind.colour)
    const pixel = packed(text)
    this.#palette[state] = pixel
    return pixel
  }

  #gaps(context: CanvasRenderingContext2D): void {
    const { width, height } = this.stage
    context.fillStyle = colour('card')
    const size = this.#scale > 14 ? 2 : 1
    for (let x = this.#x; x < width; x += this.#scale)
      if (x > -2) context.fillRect(Math.round(x) - size / 2, 0, size, height)
    for (let y = this.#y; y < height; y += this.#scale)
      if (y > -2) context.fillRect(0, Math.round(y) - size / 2, width, size)
  }

  #labels(context: CanvasRenderingContext2D): void {
    const first = Math.max(0, Math.floor(-this.#y / this.#scale))
    const last = Math.min(this.#picture.height - 1, Math.ceil((this.stage.height - this.#y) / this.#scale))
    context.font = FONT
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    const left = Math.max(0, Math.floor(-this.#x / this.#scale))
    const right = Math.min(this.#columns - 1, Math.ceil((this.stage.width - this.#x) / this.#scale))
    this.stage.canvas.dataset['cells'] = String((last - first + 1) * (right - left + 1))
    for (let row = first; row <= last; row += 1)
      for (let column = left; column <= right; column += 1) {
        const state = this.#states[row * this.#columns + column]
        const x = this.#x + (column + 0.5) * this.#scale
        if (state === undefined || (state & 15) === 0) continue
        context.fillStyle = (state & 15) >= 2 ? '#fff' : colour('soft')
        context.fillText(String((state >> 4) - 1), x, this.#y + (row + 0.5) * this.#scale)
      }
  }

  #frame(context: CanvasRenderingContext2D, page: number, stroke: string): void {
    const size = Math.max(5, this.#scale)
    const x = this.#x + ((page % this.#columns) + 0.5) * this.#scale - size / 2
    const y = this.#y + (Math.floor(page / this.#columns) + 0.5) * this.#scale - size / 2
    context.strokeStyle = stroke
    context.lineWidth = 2
    context.strokeRect(x, y, size, size)
  }
}

const probe = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })!

/** Converts a CSS colour into a pixel of an ImageData. */
function packed(text: string): number {
  probe.clearRect(0, 0, 1, 1)
  probe.fillStyle = text
  probe.fillRect(0, 0, 1, 1)
  return new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer)[0]!
}
