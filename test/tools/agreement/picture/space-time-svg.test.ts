import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AgreementWorld,
  algorithms,
  playTimely,
  type SpaceTimePlay,
  sequenceChart,
  spaceTimePage,
  spaceTimeSvg,
  type WorldEvent,
} from '../../../../tools/agreement/index.ts'

const setting = { processes: 3, memories: 3 }

function playOf(name: string, inputs: readonly string[]): SpaceTimePlay {
  const algorithm = algorithms.find((each) => each.name === name)!
  const events: WorldEvent[] = []
  const watch = (event: WorldEvent): number => events.push(event)
  playTimely(new AgreementWorld({ algorithm, setting, inputs, watch }), 100, [
    { process: 0, at: 1 },
    { memory: 2, at: 9 },
  ])
  const processNotes = inputs.map((input) => `proposes ${input}`)
  return { ...setting, title: algorithm.title, processNotes, unit: 'delays', events }
}

/** Elements of a picture; throws if it is not well-formed. */
function elementsOf(markup: string): { readonly name: string; readonly fields: Readonly<Record<string, string>> }[] {
  const open: string[] = []
  const elements = [...markup.matchAll(/<(\/?)([a-z]+)((?: [\w:-]+="[^"<]*")*)(\/?)>/g)].map(
    ([, isEnd, name, fields, isEmpty]) => {
      if (isEnd === '/') assert.equal(open.pop(), name)
      else if (isEmpty === '') open.push(name!)
      return {
        name: isEnd === '/' ? '' : name!,
        fields: Object.fromEntries(
          [...fields!.matchAll(/ ([\w:-]+)="([^"]*)"/g)].map(([, key, value]) => [key!, value!]),
        ),
      }
    },
  )
  assert.deepEqual(open, [])
  const rest = markup.replaceAll(/<(\/?)([a-z]+)((?: [\w:-]+="[^"<]*")*)(\/?)>/g, '')
  assert.doesNotMatch(rest, /[<]/)
  return elements
}

/** What the picture says that happened. */
const drawnIn = (svg: string): string[] =>
  elementsOf(svg).flatMap(({ fields }) =>
    fields['data-at'] === undefined
      ? []
      : `${fields['class']!.replace('event ', '')} ${fields['data-from'] ?? fields['data-lane']} ${fields['data-to'] ?? ''} ${fields['data-sent'] ?? ''}-${fields['data-at']}`,
  )

function told(event: WorldEvent): string {
  switch (event.type) {
    case 'message':
    case 'loss':
      return `${event.type} P${event.from} P${event.to} ${event.sentAt}-${event.at}`
    case 'operation':
      return `operation ${event.operation.do}${event.ok ? '' : ' refused'} P${event.process} M${event.memory} ${event.sentAt}-${event.at}`
    case 'answer':
      return `answer${event.answer!.ok ? '' : ' refused'} M${event.memory} P${event.process} ${event.sentAt}-${event.at}`
    case 'crash':
      return `crash ${event.process === undefined ? `M${event.memory}` : `P${event.process}`}  -${event.at}`
    default:
      return `${event.type} P${event.process}  -${event.at}`
  }
}

test('the picture has what happened, once, with whom and when', () => {
  for (const { name } of algorithms) {
    const play = playOf(name, ['a', 'b', 'c'])
    assert.ok(play.events.some(({ type }) => type === 'crash'))
    assert.deepEqual(drawnIn(spaceTimeSvg(play)), play.events.map(told), name)
  }
})

test('lanes have names, and end where their owner crashes', () => {
  const svg = spaceTimeSvg(playOf('protected-memory-paxos', ['a', 'b', 'c']))
  assert.deepEqual(
    [...svg.matchAll(/class="(?:process|memory)-name"[^>]*>(\w+)</g)].map(([, name]) => name),
    ['P0', 'P1', 'P2', 'M0', 'M1', 'M2'],
  )
  assert.match(svg, />proposes b</)
  assert.equal(elementsOf(svg).filter(({ fields }) => fields['class'] === 'lane down').length, 2)
})

test('the legend has the kinds of events that there are, and no others', () => {
  const play = playOf('disk-paxos', ['a', 'b', 'c'])
  const page = spaceTimePage(play, { source: '', command: '', outcome: [] })
  const kinds = [...page.matchAll(/id="show-(\w+)"/g)].map(([, kind]) => kind!)
  assert.deepEqual(kinds, ['message', 'write', 'read', 'answer', 'decide', 'lead', 'crash'])
  for (const kind of kinds)
    assert.match(page, new RegExp(`#show-${kind}:not\\(:checked\\)\\) :is\\(.event,.label\\).${kind}\\{`))
})

test('texts of others are escaped, in the picture and on the page', () => {
  const hostile = `<script>alert("1" & '2')</script>`
  const play = { ...playOf('protected-memory-paxos', [hostile, hostile, hostile]), title: hostile }
  const words = { source: hostile, command: hostile, outcome: [hostile] }
  for (const markup of [spaceTimeSvg(play), spaceTimePage(play, words)]) {
    assert.doesNotMatch(markup, /<script/)
    assert.match(markup, /&#60;script&#62;alert\(/)
  }
  elementsOf(spaceTimeSvg(play))
})

test('a page needs nothing else: no script, and nothing to be fetched', () => {
  const page = spaceTimePage(playOf('aligned-paxos', ['a', 'b', 'c']), {
    source: 'PODC 2019',
    command: 'aether agreement aligned-paxos',
    outcome: ['P1 decides a'],
  })
  assert.doesNotMatch(page, /<script|<link|src=|url\(|@import|href=/)
  assert.match(page, /prefers-color-scheme:dark/)
  assert.match(page, /<li>P1 decides a<\/li>/)
  assert.match(page, /<summary>All \d+ events as text<\/summary>/)
})

test('real time is in milliseconds', () => {
  const events: WorldEvent[] = [
    {
      type: 'operation',
      process: 0,
      memory: 0,
      operation: { do: 'permit', region: 'r', writers: [] },
      ok: false,
      sentAt: 0.25,
      at: 0.5,
    },
    { type: 'decide', process: 0, value: 'a', at: 1.125 },
  ]
  const svg = spaceTimeSvg({ title: 'A', processes: 1, memories: 1, unit: 'ms', events })
  assert.match(svg, /<title>P0 lets no one write r at M0: refused \(from 0\.25 to 0\.5 ms\)<\/title>/)
  assert.match(svg, /<title>P0 decides a \(at 1\.125 ms\)<\/title>/)
  assert.match(
    sequenceChart(events, { processes: 1, memories: 1 }, 'ms'),
    /^ms .*\n {2}0\.50 .* lets no one write r: refused\n {2}1\.13 /,
  )
})

test('in the terminal, dots are left of a lane whose owner has crashed', () => {
  const { events } = playOf('protected-memory-paxos', ['a', 'b', 'c'])
  const rows = sequenceChart(events, setting).split('\n')
  const crash = rows.findIndex((row) => row.includes('✗') && row.endsWith('crashes'))
  assert.equal(rows[crash]![9], '✗')
  assert.ok(crash > 0 && rows.length > crash + 5)
  assert.deepEqual(new Set(rows.slice(crash + 1).map((row) => row[9])), new Set(['·', '├']))
  // A message that was sent before still arrives.
  assert.equal(rows.slice(crash + 1).filter((row) => row[9] === '├').length, 3)
})
