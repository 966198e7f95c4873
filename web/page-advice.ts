import type { PageAdviceFrame } from '../src/dashboard/wire.ts'
import { rankColour } from './canvas.ts'
import { fill, make } from './dom.ts'
import { countText } from './units.ts'

/**
 * Why a page bounces, with a remedy. Each rank that writes the page has a bar in its colour, which shows the bytes that
 * it writes.
 */
export class PageAdvice {
  readonly element: HTMLElement = make('div', { id: 'advice', hidden: '' })
  #shown = ''

  show(advice: PageAdviceFrame | undefined): void {
    const text = JSON.stringify(advice ?? null)
    if (text === this.#shown) return
    this.#shown = text
    this.element.hidden = advice === undefined
    if (advice === undefined) return
    const { kind, finding, moves, remedy, writers, lengthBytes } = advice
    fill(
      this.element,
      make('p', {}, make('b', {}, kind.replace('-', ' ')), ` · taken away ${countText(moves)} times: ${finding}`),
      ...writers.map((writer) => bar(writer, lengthBytes)),
      make('p', { class: 'soft' }, remedy),
    )
  }
}

function bar({ rank, ranges }: PageAdviceFrame['writers'][number], lengthBytes: number): HTMLElement {
  const track = make('div', { role: 'img', 'aria-label': `bytes that rank ${rank} writes` })
  track.style.cssText = 'position:relative;flex:1;height:10px;border:1px solid var(--line);overflow:hidden'
  for (const [begin, end] of ranges) {
    const part = make('span', { title: `bytes ${begin}-${end - 1}` })
    const width = (100 * (end - begin)) / lengthBytes
    part.style.cssText = `position:absolute;top:0;bottom:0;min-width:2px;left:${(100 * begin) / lengthBytes}%;width:${width}%`
    part.style.background = rankColour(rank)
    track.append(part)
  }
  const line = make('div', {}, make('span', {}, `rank ${rank}`), track)
  line.style.cssText = 'display:flex;gap:8px;align-items:center'
  return line
}
