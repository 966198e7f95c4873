/**
 * docs/coming-from-c.md: every counterpart that its tables name exists, and the libraries are covered as far as the
 * addon calls them.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { commandTable } from '../../src/cli/commands.ts'
import { root } from './checkout.ts'
import { readDocument, type TableRow, tableRows } from './markdown.ts'
import { PublicNames } from './public-names.ts'

const path = 'docs/coming-from-c.md'
const rows = tableRows(readDocument(path)).filter(({ cells }) => cells.length === 3 && cells[0] !== 'C')
const names = new PublicNames(root)
const commands = new Set(commandTable.map(({ name }) => name))

/** Rooms share one line there: AETHER_TRACE_<ROOM>, with their names behind it. */
function isDocumented(variable: string): boolean {
  return readDocument('docs/settings.md').includes(`\`${variable}\``)
}

/** What is wrong with a counterpart; undefined where it exists. */
function fault(counterpart: string): string | undefined {
  if (counterpart.startsWith('npx aether-dsm '))
    return commands.has(counterpart.split(' ')[2] ?? '') ? undefined : 'there is no such command'
  if (/^AETHER_[A-Z_]+$/.test(counterpart))
    return isDocumented(counterpart) ? undefined : 'docs/settings.md has no such variable'
  return names.fault(counterpart)
}

function faults({ line, cells: [, here = '', note = ''] }: TableRow): string[] {
  const where = `${path}:${line}`
  if (here === '—') return note === '' ? [`${where}: no counterpart, and the note does not say what to do instead`] : []
  const counterparts = [...here.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')
  if (counterparts.length === 0 || here.replaceAll(/`[^`]+`|, /g, '') !== '')
    return [`${where}: '${here}' is neither a dash nor a list of names`]
  return counterparts.flatMap((counterpart) => {
    const why = fault(counterpart)
    return why === undefined ? [] : [`${where}: ${counterpart}: ${why}`]
  })
}

test('every counterpart that the tables name exists in what the package exports', () => {
  assert.ok(rows.length > 150, `the tables were found: ${rows.length} rows`)
  assert.deepEqual(rows.flatMap(faults), [])
})

test('a counterpart that does not exist is told from one that does', () => {
  assert.equal(names.fault('openDevice'), undefined)
  assert.equal(names.fault('Device.close'), undefined)
  assert.match(names.fault('openDevices') ?? '', /no export path of package\.json exports openDevices/)
  assert.match(names.fault('Device.shut') ?? '', /Device .* has no member shut/)
  assert.match(names.fault('Access.Everything') ?? '', /has no member Everything/)
})

test('every function of libibverbs, librdmacm and mlx5dv that the addon calls stands in a table', () => {
  const called = new Set<string>()
  for (const name of readdirSync(join(root, 'native')).filter((each) => /\.(cc|h)$/.test(each)))
    for (const [, call] of readFileSync(join(root, 'native', name), 'utf8').matchAll(
      /\b((?:ibv|rdma|mlx5dv)_[a-z0-9_]+)(?= *\()/g,
    ))
      called.add(call ?? '')
  assert.ok(called.size > 80, `calls were found: ${called.size}`)
  const listed = new Set(
    rows.flatMap(({ cells: [c = ''] }) => [...c.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '')),
  )
  assert.deepEqual([...called].filter((name) => !listed.has(name)).sort(), [])
})
