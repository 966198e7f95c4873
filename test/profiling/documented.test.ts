import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { test } from 'node:test'
import { type CounterLayout, knownLayouts } from '../../src/profiling/index.ts'
import { root } from '../repository/checkout.ts'
// The rooms that count, so that their layouts are known.
import '../../src/public/index.ts'
import '../../src/rpc/index.ts'
import '../../src/dashboard/index.ts'

const PAGE = join(root, 'docs/profiling.md')
const FIGURES = /(<!-- figures: [^\n]* -->\n)[\s\S]*?(<!-- end of figures -->)/

const layouts = knownLayouts().filter(({ name }) => !name.startsWith('dsm.transitions.'))

function section({ name, counters, gauges, labelled, spread, help }: CounterLayout): string {
  const by = labelled === '' ? '' : `, by ${labelled.replace(',', ' and ')}`
  const lines = [`### \`${name}\`${by}`, '', help['']]
  if (spread !== '') lines.push('', `By ${spread}: ${counters.map((counter) => `\`${counter}\``).join(', ')}.`)
  else if (counters.length === 0) lines.push('', 'A histogram.')
  else {
    lines.push('', '| counter | what |', '|---|---|')
    for (const counter of counters)
      lines.push(`| \`${counter}\` | ${gauges.includes(counter) ? 'Gauge. ' : ''}${help[counter]} |`)
  }
  return `${lines.join('\n')}\n`
}

test('every figure is explained in the code', () => {
  assert.ok(layouts.length >= 10, `only ${layouts.length} layouts are known`)
  const unexplained = layouts.flatMap(({ name, counters, spread, help }) =>
    ['', ...(spread === '' ? counters : [])]
      .filter((counter) => !/^[A-Z].*\.$/.test(help[counter] ?? ''))
      .map((counter) => `${name} ${counter}`),
  )
  assert.deepEqual(unexplained, [])
})

test('docs/profiling.md lists the figures as the code has them', () => {
  const page = readFileSync(PAGE, 'utf8')
  const wanted = page.replace(
    FIGURES,
    (_, begin: string, end: string) => `${begin}\n${layouts.map(section).join('\n')}\n${end}`,
  )
  if (process.env['AETHER_UPDATE_SURFACE'] === '1') writeFileSync(PAGE, wanted)
  else assert.equal(page, wanted, 'AETHER_UPDATE_SURFACE=1 npm test profiling/documented writes it anew')
})
