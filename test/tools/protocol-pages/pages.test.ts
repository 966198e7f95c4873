import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { protocols } from '../../../src/dsm/index.ts'
import { protocolPage } from '../../../tools/protocol-pages/index.ts'
import { root } from '../../repository/checkout.ts'

const folder = join(root, 'docs/protocols')

test('every protocol has a page, and no other has one', () => {
  assert.deepEqual(readdirSync(folder).sort(), [...protocols.keys()].map((name) => `${name}.md`).sort())
})

for (const protocol of protocols.values()) {
  test(`the page of ${protocol.name} is what its tables say ('npm run docs' writes it)`, () => {
    assert.equal(readFileSync(join(folder, `${protocol.name}.md`), 'utf8'), protocolPage(protocol))
  })

  test(`the page of ${protocol.name} has a row for each cell and an arrow for each change of state`, () => {
    const page = protocolPage(protocol)
    for (const table of [protocol.cache, protocol.directory]) {
      for (const [state, { on }] of Object.entries(table.states)) {
        const cells = Object.entries(on as Readonly<Record<string, { actions: readonly string[]; next: string }>>)
        for (const [event, cell] of cells) {
          assert.ok(page.includes(`| ${event} | ${cell.actions.join(', ')} |`), `${state}/${event}`)
          if (cell.next !== state) assert.match(page, new RegExp(`  ${state} --> ${cell.next}: .*\\b${event}\\b`))
        }
      }
    }
  })
}
