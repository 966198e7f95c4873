import { hashBytes } from '../../codecs/index.ts'
import { NamedOffset, PARAMETERS, STRUCTURE_NAME_BYTES_MAX } from '../heap/directory.ts'
import { DIRECTORY_OFFSET, STRUCTURES_MAX } from '../heap/layout.ts'
import { kindNamed, type StructureKindName } from '../heap/structure-kind.ts'
import type { CheckedHeap, CheckedStructure } from './checked-heap.ts'
import { must } from './damage.ts'

/** A structure as its name has it, before its inside was looked at. */
export interface CheckedName extends CheckedStructure {
  readonly name: string
  readonly kind: StructureKindName
}

const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The structure that a place of the directory names, where its name leads to; undefined if none. @throws Damage */
export function checkName(heap: CheckedHeap, at: number): CheckedName | undefined {
  const { sight } = heap
  const reference = sight.word(DIRECTORY_OFFSET + at * 4)
  if (reference === 0) return undefined
  const what = `name ${at} of the directory`
  const claimant = heap.claims.claimant(what)
  const block = claimant.claim(reference, NamedOffset.Body + 1, what)
  const nameLength = sight.word(block.offset + NamedOffset.NameLength)
  const kind = kindNamed(sight.word(block.offset + NamedOffset.Kind))
  must(nameLength >= 1 && nameLength <= STRUCTURE_NAME_BYTES_MAX, `${what} is too long`)
  must(kind !== undefined, `${what} is of a kind that there is not`)
  const bytes = sight.copy(block.offset + NamedOffset.Name, nameLength)
  const rest = sight.copy(block.offset + NamedOffset.Name + nameLength, STRUCTURE_NAME_BYTES_MAX - nameLength)
  must(
    rest.every((byte) => byte === 0),
    `${what} goes on after its end`,
  )
  const name = decoded(bytes, what)
  must(isFound(heap, at, bytes), `'${name}' is not where its name leads to`)
  const parameters = Array.from({ length: PARAMETERS }, (_, index) =>
    sight.float(block.offset + NamedOffset.Parameters + index * 8),
  )
  return { heap, claimant, block, body: block.offset + NamedOffset.Body, name, kind, parameters }
}

function decoded(bytes: Uint8Array, what: string): string {
  try {
    return text.decode(bytes)
  } catch {
    must(false, `${what} is not text`)
    return ''
  }
}

/** A name is looked for from the place of its hash up to the first empty one, or one that has it. */
function isFound({ sight }: CheckedHeap, at: number, name: Uint8Array): boolean {
  const home = hashBytes(name, name.length, 0) % STRUCTURES_MAX
  for (let place = home; place !== at; place = (place + 1) % STRUCTURES_MAX) {
    const reference = sight.word(DIRECTORY_OFFSET + place * 4)
    const block = sight.block(reference)
    if (block === undefined) return false
    const length = sight.word(block.offset + NamedOffset.NameLength)
    if (length === name.length && Buffer.compare(sight.copy(block.offset + NamedOffset.Name, length), name) === 0)
      return false
  }
  return true
}
