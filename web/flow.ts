import type { LinkFrame, MemberFrame } from '../src/dashboard/wire.ts'
import { colour, FONT, rankColour, Stage } from './canvas.ts'
import { rateText } from './units.ts'

/** Links that are drawn with moving dots; all others are faint lines. */
const BUSY_MAX = 160

interface Place {
  readonly x: number
  readonly y: number
  readonly member: MemberFrame
}

/** The nodes in a ring, and what flows between them: the more bytes a second, the wider the line and the faster and larger its dots. */
export class Flow {
  readonly stage: Stage = new Stage('Nodes, and the data that flows between them')
  readonly #phase = new Map<string, number>()
  #lastMs = 0

  draw(members: readonly MemberFrame[], links: readonly LinkFrame[], nowMs: number): void {
    const context = this.stage.clear()
    const elapsed = Math.min(0.1, (nowMs - this.#lastMs) / 1000)
    this.#lastMs = nowMs
    const places = this.#places(members)
    const radius = Math.max(7, Math.min(34, 150 / Math.sqrt(members.length + 4)))
    const sorted = [...links].sort((a, b) => b.bytes - a.bytes)
    const most = Math.max(1, sorted[0]?.bytes ?? 1)
    sorted.reverse().forEach((link, index) => {
      const [a, b] = [places.get(link.from), places.get(link.to)]
      if (a === undefined || b === undefined || a === b) return
      this.#link(context, link, a, b, radius, most, elapsed, sorted.length - index <= BUSY_MAX)
    })
    for (const place of places.values()) this.#node(context, place, radius, members.length)
  }

  #places(members: readonly MemberFrame[]): ReadonlyMap<number, Place> {
    const { width, height } = this.stage
    const reach = Math.max(40, Math.min(width * 0.5, height * 0.5) - 74)
    const [wide, high] = [Math.min(width * 0.5 - 90, reach * 1.35), reach]
    return new Map(
      members.map((member, index) => {
        const angle = (2 * Math.PI * index) / members.length - Math.PI / 2
        const alone = members.length === 1
        const x = width / 2 + (alone ? 0 : wide * Math.cos(angle))
        const y = height / 2 + (alone ? 0 : high * Math.sin(angle)) - 6
        return [member.rank ?? member.slot, { x, y, member }]
      }),
    )
  }

  #link(
    context: CanvasRenderingContext2D,
    { from, to, bytes }: LinkFrame,
    a: Place,
    b: Place,
    radius: number,
    most: number,
    elapsed: number,
    isBusy: boolean,
  ): void {
    // To the right of the way there, so that both directions are seen.
    const [dx, dy] = [b.x - a.x, b.y - a.y]
    const length = Math.hypot(dx, dy)
    const bend = Math.min(40, length * 0.12)
    const [cx, cy] = [(a.x + b.x) / 2 - (dy / length) * bend, (a.y + b.y) / 2 + (dx / length) * bend]
    const share = bytes <= 0 ? 0 : Math.max(0.08, Math.log2(1 + (255 * bytes) / most) / 8)
    context.strokeStyle = share === 0 ? colour('line') : rankColour(from, 0.12 + 0.3 * share)
    context.lineWidth = share === 0 ? 1 : 1 + 5 * share
    context.beginPath()
    context.moveTo(a.x, a.y)
    context.quadraticCurveTo(cx, cy, b.x, b.y)
    context.stroke()
    if (share === 0 || !isBusy) return
    const key = `${from} ${to}`
    const volume = Math.min(1, Math.max(0.05, Math.log10(bytes + 1) / 9))
    const phase = ((this.#phase.get(key) ?? 0) + (elapsed * (40 + 320 * volume * volume)) / length) % 1
    this.#phase.set(key, phase)
    const dots = Math.max(1, Math.round((length / 46) * (0.4 + share)))
    context.fillStyle = rankColour(from)
    const [begin, end] = [radius / length, 1 - radius / length]
    for (let dot = 0; dot < dots; dot++) {
      const t = begin + (end - begin) * (((phase * dots + dot) / dots) % 1)
      const [u, v, w] = [(1 - t) * (1 - t), 2 * t * (1 - t), t * t]
      context.beginPath()
      context.arc(u * a.x + v * cx + w * b.x, u * a.y + v * cy + w * b.y, 1.3 + 2.6 * share, 0, 7)
      context.fill()
    }
  }

  #node(context: CanvasRenderingContext2D, { x, y, member }: Place, radius: number, count: number): void {
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
    // How busy its processor is, around it.
    context.beginPath()
    context.arc(x, y, radius + 4.5, -Math.PI / 2, -Math.PI / 2 + 2 * Math.PI * Math.min(1, member.processors))
    context.strokeStyle = rankColour(number, 0.55)
    context.stroke()
    context.fillStyle = colour('ink')
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    context.font = `600 ${Math.max(9, Math.round(radius * 0.62))}px system-ui, "DejaVu Sans", sans-serif`
    context.fillText(String(number), x, y + 0.5)
    if (count > 20) return
    context.font = FONT
    context.fillStyle = colour('soft')
    const below = y + radius + 20
    const text = member.state === 'running' ? `${rateText(member.bytesOut)} out` : member.state
    context.lineWidth = 4
    context.lineJoin = 'round'
    context.strokeStyle = colour('card')
    context.strokeText(text, x, below)
    context.fillText(text, x, below)
  }
}
