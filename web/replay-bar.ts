import { make } from './dom.ts'
import { type SessionReplay, SPEEDS } from './session-replay.ts'

const ends = {
  closed: '',
  limit: 'The recording has reached its size limit here.',
  cut: 'The recording is cut off here: its recorder was killed, or is still running.',
  damaged: 'The file is damaged from here on.',
} as const

/** The bar below a recording: play, pause, speed and position. */
export class ReplayBar {
  readonly element: HTMLElement
  readonly #replay: SessionReplay
  readonly #play = make('button', { class: 'play', click: () => this.#replay.play() })
  readonly #time = make('span', { class: 'mono time' })
  readonly #clock = make('span', { class: 'soft mono' })
  readonly #note = make('span', { class: 'note', role: 'status' })
  readonly #speed = make('select', { 'aria-label': 'Speed' })
  readonly #scrubber: HTMLInputElement

  constructor(replay: SessionReplay) {
    this.#replay = replay
    const { name, lengthMs, begunMs } = replay.facts
    this.#scrubber = make('input', {
      type: 'range',
      min: '0',
      max: String(Math.max(1, Math.round(lengthMs))),
      step: '100',
      'aria-label': 'Position in the recording',
      input: () => void replay.seek(Number(this.#scrubber.value)),
    })
    this.#speed.append(...SPEEDS.map((speed) => new Option(`${speed}×`, String(speed), speed === 1, speed === 1)))
    this.#speed.addEventListener('change', () => replay.setSpeed(Number(this.#speed.value)))
    const begun = new Date(begunMs).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
    this.element = make(
      'footer',
      { 'aria-label': 'Recording' },
      make('b', { class: 'badge', title: `recorded ${begun}` }, 'Recording'),
      make('span', { class: 'name', title: name }, name),
      this.#play,
      this.#time,
      this.#scrubber,
      this.#speed,
      this.#clock,
      this.#note,
    )
    replay.onChange = () => this.#show()
    this.#show()
  }

  /** Returns true if the key was handled. */
  key({ key, shiftKey }: KeyboardEvent): boolean {
    const replay = this.#replay
    const at = SPEEDS.indexOf(replay.speed)
    if (key === ' ') replay.play()
    else if (key === '[') replay.setSpeed(SPEEDS[Math.max(0, at - 1)]!)
    else if (key === ']') replay.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, at + 1)]!)
    else if (key === ',' || key === '.') {
      replay.play(false)
      void replay.seek(replay.atMs + (key === '.' ? 200 : -200))
    } else if (key === 'Home') void replay.seek(0)
    else if (key === 'End') void replay.seek(replay.facts.lengthMs)
    else if (shiftKey && (key === 'ArrowLeft' || key === 'ArrowRight'))
      void replay.seek(replay.atMs + (key === 'ArrowRight' ? 5000 : -5000))
    else return false
    return true
  }

  #show(): void {
    const { atMs, facts, isPlaying, speed, damage } = this.#replay
    const word = isPlaying ? 'Pause' : 'Play'
    if (this.#play.title !== `${word} (space)`) {
      this.#play.title = `${word} (space)`
      this.#play.setAttribute('aria-label', word)
      this.#play.textContent = isPlaying ? '❚❚' : '▶'
    }
    setText(this.#time, `${minutes(atMs)} / ${minutes(facts.lengthMs)}`)
    setText(this.#clock, new Date(facts.begunMs + atMs).toTimeString().slice(0, 8))
    setText(this.#note, damage ?? (atMs >= facts.lengthMs ? ends[facts.end] : ''))
    this.#scrubber.value = String(Math.round(atMs))
    this.#scrubber.style.setProperty('--at', `${(100 * atMs) / Math.max(1, facts.lengthMs)}%`)
    this.#scrubber.setAttribute('aria-valuetext', minutes(atMs))
    this.#speed.value = String(speed)
  }
}

function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text
}

function minutes(ms: number): string {
  const tenths = Math.floor(ms / 100)
  const seconds = `${String(Math.floor(tenths / 10) % 60).padStart(2, '0')}.${tenths % 10}`
  return `${Math.floor(tenths / 600)}:${seconds}`
}
