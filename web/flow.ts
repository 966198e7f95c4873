import type { LinkFrame, MemberFrame } from '../src/dashboard/wire.ts'
import { CanvasStage, colour, rankColour } from './canvas.ts'
import { rateText } from './units.ts'

/** How many links have their own line, and how many have moving dots: the busiest. All links form a faint web. */
const LINES_MAX = 300
const MOVING_MAX = 120
/** The maximum number of dots, which are painted again in every animation frame. */
const DOTS_MAX = 700

/** A node at least this large shows its rate. */
const RATE_RADIUS_MIN = 33
const SMALL_FONT = '10.5px system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif'

interface Place {
  readonly x: number
  readonly y: number
  readonly member: MemberFrame
}

/** The line of a link: a curve with one control point. */
interface Curve {
  readonly key: string
  readonly from: number
  readonly ax: number
  readonly ay: number
  readonly cx: number
  readonly cy: number
  readonly bx: number
  readonly by: number
  readonly length: number
  /** Traffic relative to the busiest link, 0 to 1, on a logarithmic scale. */
  readonly share: number
  /** Pixels per second. */
  readonly speed: number
  dots: number
}

/**
 * The nodes in a ring, and the traffic between them. With more bytes per second, the line of a link is wider and its
 * dots are larger and faster. Lines and nodes are painted when there is news; in between, only the dots move.
 */
export class Flow {
  readonly stage: CanvasStage = new CanvasStage('Nodes and the traffic between them')
  readonly #phase = new Map<string, number>()
  readonly #web = document.createElement('canvas')
  readonly #below = document.createElement('canvas')
  readonly #above = document.createElement('canvas')
  #curves: readonly Curve[] = []
  #radius = 10
  #lastMs = 0
  #painted = ''
  #woven = ''

  /** `version` changes whenever lines and nodes have to be painted again. */
  draw(members: readonly MemberFrame[], links: Iterable<LinkFrame>, version: string, nowMs: number): void {
    const context = this.stage.clear()
    const { width, height } = this.stage
    const elapsed = Math.max(0, Math.min(0.1, (nowMs - this.#lastMs) / 1000))
    this.#lastMs = nowMs
    const painted = `${version} ${width} ${height} ${devicePixelRatio}`
    if (painted !== this.#painted) {
      this.#painted = painted
      this.#paint(members, [...links])
    }
    if (width === 0 || height === 0) return
    context.drawImage(this.#web, 0, 0, width, height)
    context.drawImage(this.#below, 0, 0, width, height)
    for (const curve of this.#curves) this.#move(context, curve, elapsed)
    context.drawImage(this.#above, 0, 0, width, height)
  }

  #paint(members: readonly MemberFrame[], links: readonly LinkFrame[]): void {
    const places = this.#places(members)
    const radius = Math.max(8, Math.min(38, 165 / Math.sqrt(members.length + 4)))
    this.#radius = radius
    const sorted = [...links].sort((a, b) => b.bytes - a.bytes)
    const most = Math.max(1, sorted[0]?.bytes ?? 1)
    const curves: Curve[] = []
    for (const link of sorted.slice(0, LINES_MAX)) {
      const [a, b] = [places.get(link.from), places.get(link.to)]
      if (a !== undefined && b !== undefined && a !== b && link.bytes > 0) curves.push(curveOf(link, a, b, most))
    }
    this.#weave(places, links)
    this.#paintLines(curves)
    const above = contextOf(this.#above, this.stage)
    for (const place of places.values()) paintNode(above, place, radius)
    const moving = curves.slice(0, MOVING_MAX)
    const wanted = moving.reduce((sum, { dots }) => sum + dots, 0)
    for (const curve of moving) curve.dots = Math.max(1, Math.floor(curve.dots * Math.min(1, DOTS_MAX / wanted)))
    this.#curves = moving
    const drawn = moving.reduce((sum, { dots }) => sum + dots, 0)
    Object.assign(this.stage.canvas.dataset, { lines: String(curves.length), dots: String(drawn) })
  }

  /** Paint all links that exist. They seldom change, and there may be two thousand. */
  #weave(places: ReadonlyMap<number, Place>, links: readonly LinkFrame[]): void {
    const { width, height } = this.stage
    const key = `${[...places.keys()].join()} ${links.length} ${width} ${height} ${devicePixelRatio} ${colour('line')}`
    if (key === this.#woven) return
    this.#woven = key
    const context = contextOf(this.#web, this.stage)
    context.strokeStyle = colour('line')
    context.globalAlpha = places.size > 20 ? 0.5 : 1
    context.beginPath()
    for (const { from, to } of links) {
      const [a, b] = [places.get(from), places.get(to)]
      if (from >= to || a === undefined || b === undefined) continue
      context.moveTo(a.x, a.y)
      context.lineTo(b.x, b.y)
    }
    context.stroke()
  }

  #paintLines(curves: readonly Curve[]): void {
    const below = contextOf(this.#below, this.stage)
    for (const { from, ax, ay, cx, cy, bx, by, share } of [...curves].reverse()) {
      below.strokeStyle = rankColour(from, 0.14 + 0.3 * share)
      below.lineWidth = 1 + 6 * share
      below.beginPath()
      below.moveTo(ax, ay)
      below.quadraticCurveTo(cx, cy, bx, by)
      below.stroke()
    }
  }

  #move(context: CanvasRenderingContext2D, curve: Curve, elapsed: number): void {
    const { key, from, ax, ay, cx, cy, bx, by, length, share, speed, dots } = curve
    const phase = ((this.#phase.get(key) ?? 0) + (elapsed * speed) / length) % 1
    this.#phase.set(key, phase)
    const [begin, end] = [this.#radius / length, 1 - this.#radius / length]
    const size = 1.4 + 2.6 * share
    context.fillStyle = rankColour(from)
    context.beginPath()
    for (let dot = 0; dot < dots; dot += 1) {
      const t = begin + (end - begin) * ((phase + dot / dots) % 1)
      const [u, v, w] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t]
      const [x, y] = [u * ax + v * cx + w * bx, u * ay + v * cy + w * by]
      context.moveTo(x + size, y)
      context.arc(x, y, size, 0, 7)
    }
    context.fill()
  }

  #places(members: readonly MemberFrame[]): ReadonlyMap<number, Place> {
    const { width, height } = this.stage
    const reach = Math.max(40, height * 0.5 - (members.length > 20 ? 30 : 50))
    const [wide, high] = [Math.max(40, Math.min(width * 0.5 - 64, reach * 1.5)), reach]
    return new Map(
      members.map((member, index) => {
        const angle = (2 * Math.PI * index) / members.length - Math.PI / 2
        const alone = members.length === 1
        const x = width / 2 + (alone ? 0 : wide * Math.cos(angle))
        const y = height / 2 + (alone ? 0 : high * Math.sin(angle))
        return [member.rank ?? member.slot, { x, y, member }]
      }),
    )
  }
}

/** The line of a link, bent to the right, so that both directions are visible. */
function curveOf({ from, to, bytes }: LinkFrame, a: Place, b: Place, most: number): Curve {
  const [dx, dy] = [b.x - a.x, b.y - a.y]
  const length = Math.max(1, Math.hypot(dx, dy))
  const bend = Math.min(40, length * 0.12)
  const share = Math.max(0.08, Math.log2(1 + (255 * bytes) / most) / 8)
  const volume = Math.min(1, Math.max(0.05, Math.log10(bytes + 1) / 9))
  return {
    key: `${from} ${to}`,
    from,
    ax: a.x,
    ay: a.y,
    cx: (a.x + b.x) / 2 - (dy / length) * bend,
    cy: (a.y + b.y) / 2 + (dx / length) * bend,
    bx: b.x,
    by: b.y,
    length,
    share,
    speed: 40 + 320 * volume * volume,
    dots: Math.max(1, Math.round((length / 46) * (0.4 + share))),
  }
}

/** Clear a layer and make it as large as the stage. */
function contextOf(canvas: HTMLCanvasElement, { width, height }: CanvasStage): CanvasRenderingContext2D {
  const context = canvas.getContext('2d')!
  canvas.width = Math.max(1, Math.round(width * devicePixelRatio))
  canvas.height = Math.max(1, Math.round(height * devicePixelRatio))
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
  return context
}

function paintNode(context: CanvasRenderingContext2D, { x, y, member }: Place, radius: number): void {
  const number = member.rank ?? member.slot
  context.beginPath()
  context.arc(x, y, radius, 0, 7)
  context.fillStyle = colour('card')
  context.fill()
  context.fillStyle = rankColour(number, 0.18)
  context.fill()
  context.lineWidth = 2.5
  context.strokeStyle = member.state === 'running' ? rankColour(number) : colour('bad')
  context.stroke()
  // The arc around the node shows its CPU use.
  context.beginPath()
  context.arc(x, y, radius + 4.5, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * Math.min(1, member.processors))
  context.strokeStyle = rankColour(number, 0.55)
  context.stroke()
  context.fillStyle = colour('ink')
  context.textAlign = 'center'
  context.textBaseline = 'middle'
  const hasRoom = radius >= RATE_RADIUS_MIN
  context.font = `600 ${Math.max(9, Math.round(radius * 0.62))}px system-ui, "DejaVu Sans", sans-serif`
  context.fillText(String(number), x, hasRoom ? y - 6 : y + 0.5)
  if (!hasRoom) return
  context.font = SMALL_FONT
  context.fillStyle = member.state === 'running' ? colour('ink') : colour('bad')
  context.fillText(member.state === 'running' ? rateText(member.bytesOut) : member.state, x, y + 14)
}
