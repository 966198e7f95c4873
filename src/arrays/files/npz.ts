import type { Block } from '../blocks/block.ts'
import { decodeNpy, encodeNpy } from './npy.ts'
import { ZipReader, ZipWriter } from './zip.ts'

const SUFFIX = '.npy'

/** Writes blocks by name to one file, as NumPy's `savez` does, or its `savez_compressed`. */
export async function writeNpz(path: string, blocks: ReadonlyMap<string, Block>, compressed: boolean): Promise<void> {
  await using archive = await ZipWriter.create(path)
  for (const [name, block] of blocks) await archive.add(`${name}${SUFFIX}`, encodeNpy(block), { compressed })
  await archive.finish()
}

/** The blocks of a file by name: those with the given names, or all. */
export async function readNpz(path: string, names?: readonly string[]): Promise<Map<string, Block>> {
  await using archive = await ZipReader.open(path)
  const files = archive.names.filter((name) => name.endsWith(SUFFIX))
  const blocks = new Map<string, Block>()
  for (const file of names?.map((name) => `${name}${SUFFIX}`) ?? files) {
    const name = file.slice(0, -SUFFIX.length)
    blocks.set(name, decodeNpy(await archive.read(file), `${name} of ${path}`))
  }
  return blocks
}
