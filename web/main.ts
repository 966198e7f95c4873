import type { SessionFrame } from '../src/dashboard/wire.ts'
import { ArraysView } from './arrays-view.ts'
import { forgetColours } from './canvas.ts'
import { ClusterView } from './cluster-view.ts'
import { make } from './dom.ts'
import { EventLogView } from './event-log-view.ts'
import { Feed } from './feed.ts'
import { HistogramsView } from './histograms-view.ts'
import { IndexesView } from './indexes-view.ts'
import { Live } from './live.ts'
import { MachinesView } from './machines-view.ts'
import { PagesView } from './pages-view.ts'
import { ProtocolView } from './protocol-view.ts'
import { ReplayBar } from './replay-bar.ts'
import { SessionReplay } from './session-replay.ts'
import { ask, type Source } from './source.ts'
import { StructuresView } from './structures-view.ts'
import { TransfersView } from './transfers-view.ts'
import { bytesText, countText, rateText } from './units.ts'
import type { View } from './view.ts'

const feed = new Feed()
const pages = new PagesView(feed)
const views: readonly View[] = [
  new ClusterView(feed),
  new TransfersView(feed),
  pages,
  new StructuresView(feed),
  new MachinesView(feed),
  new ProtocolView(feed),
  new HistogramsView(feed),
  new EventLogView(feed),
  new IndexesView(feed),
  new ArraysView(feed),
]

const dot = make('span', { class: 'dot' })
const space = make('span', { class: 'space' })
const problem = make('p', { class: 'problem', role: 'alert' })
const facts = ['nodes', 'epoch', 'memory', 'traffic', 'page waits'].map((name) => ({ name, value: make('b', {}, '–') }))
const tabs = views.map((view, index) =>
  make('button', { role: 'tab', click: () => show(view) }, view.title, make('kbd', {}, (index + 1) % 10)),
)
const theme = make(
  'button',
  { title: 'Light or dark theme (t)', 'aria-label': 'Light or dark theme', click: () => turn() },
  '◐',
)

document.body.append(
  make(
    'header',
    {},
    make('div', { class: 'brand' }, dot, 'Aether', space),
    make('nav', { role: 'tablist' }, ...tabs),
    make('div', { class: 'facts' }, ...facts.map(({ name, value }) => make('div', {}, value, make('span', {}, name)))),
    theme,
  ),
  problem,
  make('main', {}, ...views.map(({ element }) => element)),
)

let shown: View = views[0]!
let source: Source | undefined
let bar: ReplayBar | undefined

function show(view: View): void {
  shown = view
  views.forEach((each, index) => {
    each.element.classList.toggle('shown', each === view)
    tabs[index]!.setAttribute('aria-selected', String(each === view))
  })
  history.replaceState(null, '', `#${view.id}`)
  view.update()
}

function turn(): void {
  setTheme(document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark')
  localStorage.setItem('theme', document.documentElement.dataset['theme'] ?? '')
}

function setTheme(name: string): void {
  document.documentElement.dataset['theme'] = name
  forgetColours()
  pages.repaint()
  shown.update()
}

function showFacts(): void {
  const { frame, connected } = feed
  const members = frame?.members ?? []
  // Several threads of one process may be members.
  const processes = [
    ...new Map(members.filter(({ foreign }) => !foreign).map((member) => [member.processId, member])).values(),
  ]
  const values = [
    String(members.length),
    String(frame?.epoch ?? 0),
    bytesText(processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0)),
    rateText(feed.totalBytes.at(-1) ?? 0),
    `${countText(members.reduce((sum, { waits }) => sum + waits, 0))}/s`,
  ]
  values.forEach((value, index) => {
    facts[index]!.value.textContent = value
  })
  const why = frame?.problem ?? ''
  if (problem.textContent !== why) problem.textContent = why
  dot.className = `dot ${!connected ? 'off' : frame?.running === true ? 'on' : ''}`
  space.textContent = !connected
    ? (feed.refusal ?? 'the server does not answer')
    : frame?.running === true
      ? frame.space
      : bar !== undefined
        ? 'no space was running'
        : 'waiting for a space …'
}

/** A hidden page draws nothing. */
feed.onFrame = () => {
  if (document.hidden) return
  showFacts()
  shown.update()
}
document.addEventListener('visibilitychange', () => feed.onFrame())

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLSelectElement) return
  // The scrubber handles arrow keys itself, and a button space and Enter.
  const isOwn =
    event.target instanceof HTMLInputElement ||
    (event.target instanceof HTMLButtonElement && [' ', 'Enter'].includes(event.key))
  if (isOwn && !/^[[\],.0-9t]$/.test(event.key)) return
  const view = /^[0-9]$/.test(event.key) ? views[(Number(event.key) + 9) % 10] : undefined
  if (view !== undefined) show(view)
  else if (event.key === 't') turn()
  else if (bar?.key(event) === true) event.preventDefault()
  else if (shown.key?.(event) === true) event.preventDefault()
})

function draw(nowMs: number): void {
  // First, so that an error in one frame does not stop the following ones.
  requestAnimationFrame(draw)
  source?.tick?.(nowMs)
  shown.draw?.(source?.clockMs(nowMs) ?? nowMs, nowMs)
}

/** Show a running space or a recording: the server says which. */
async function begin(): Promise<void> {
  const session = await ask<SessionFrame>('/session')
  if (session?.kind === 'recording') {
    const replay = new SessionReplay(feed, session)
    bar = new ReplayBar(replay)
    document.body.append(bar.element)
    document.body.classList.add('recorded')
    document.title = `Aether: recording ${session.name}`
    source = replay
  } else source = new Live(feed)
  feed.source = source
}

setTheme(localStorage.getItem('theme') || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'))
show(views.find(({ id }) => `#${id}` === location.hash) ?? views[0]!)
void begin()
requestAnimationFrame(draw)
