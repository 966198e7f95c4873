import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { AetherError, mustBe } from '../../native/index.ts'
import { type Block, newBlock, rowMajor, sizeOf } from '../blocks/block.ts'
import { elementsOf } from '../blocks/copying.ts'
import { elementAt, writeElement } from '../blocks/elements.ts'
import { keepResultMemory } from '../blocks/result-memory.ts'
import { ArrayError, shapeText } from '../errors.ts'
import type { Scalar } from '../types/complex.ts'
import { bool, DTYPES, type DType, type DTypeName, type Elements, isComplex } from '../types/dtype.ts'
import { checkPath } from './file-calls.ts'

/**
 * Where the chunks of a Zarr array lie: a folder, or whatever keeps bytes by keys. Stores of the package zarrita do.
 */
export interface ZarrStore {
  get(key: `/${string}`): Promise<Uint8Array | undefined>
  set?(key: `/${string}`, value: Uint8Array): Promise<void>
}

export interface ZarrOptions {
  /** The shape of a chunk. Without it, one chunk has all. Where ranks write parts, no chunk is of two ranks. */
  readonly chunks?: readonly number[]
  /** Names of the axes. */
  readonly dimensionNames?: readonly string[]
}

/** From where to before where along each axis; null, or none, is the whole axis. */
export type ZarrRegion = readonly (readonly [start: number, stop: number] | null)[]

/** @throws ArgumentError */
export function checkWhere(argument: string, where: string | ZarrStore, isWritten: boolean = false): void {
  if (typeof where === 'string') {
    checkPath(argument, where)
    return
  }
  const { get, set } = Object(where) as Partial<ZarrStore>
  if (typeof get !== 'function' || (isWritten && typeof set !== 'function'))
    throw mustBe(argument, `a folder, or a store with get()${isWritten ? ' and set()' : ''}`, where)
}

/** The package that reads and writes Zarr, as far as it is used here. */
interface Zarrita {
  open(store: ZarrStore, options: { readonly kind: 'array' }): Promise<ZarritaArray>
  create(store: ZarrStore, options: object): Promise<ZarritaArray>
  get(array: ZarritaArray, selection: readonly unknown[] | null): Promise<Chunk | number | bigint | boolean>
  set(array: ZarritaArray, selection: readonly unknown[] | null, value: Chunk | Scalar): Promise<void>
  slice(start: number, stop: number): unknown
  readonly BoolArray: new (buffer: ArrayBufferLike, byteOffset: number, length: number) => Iterable<boolean>
}

interface ZarritaArray {
  readonly shape: readonly number[]
  readonly chunks: readonly number[]
  readonly dtype: string
}

interface Chunk {
  readonly data: unknown
  readonly shape: readonly number[]
  readonly stride: readonly number[]
}

/** Opens a Zarr array, version 2 or 3, of which regions are read and written. */
export async function openZarr(where: string | ZarrStore): Promise<ZarrArray> {
  const zarrita = await loadZarrita()
  const place = placeOf(where)
  const array = await understood(place, () => zarrita.open(storeOf(where), { kind: 'array' }))
  return new ZarrArray(zarrita, array, place)
}

/**
 * Makes a Zarr array of zeros, version 3. Chunks that were there stay until they are written, so that every rank may
 * call it.
 */
export async function createZarr(
  where: string | ZarrStore,
  dtype: DType,
  shape: readonly number[],
  options: ZarrOptions = {},
): Promise<ZarrArray> {
  if (isComplex(dtype))
    throw new ArrayError('TYPE', `zarrita has no ${dtype}; save the real and the imaginary part, or a .npy file`)
  const chunks = options.chunks ?? shape.map((extent) => Math.max(1, extent))
  if (!Array.isArray(chunks)) throw mustBe('options.chunks', 'the shape of a chunk, as [100, 100]', chunks)
  const { dimensionNames } = options
  if (dimensionNames !== undefined && !(Array.isArray(dimensionNames) && dimensionNames.length === shape.length))
    throw mustBe('options.dimensionNames', 'a list of names, one for each axis', dimensionNames)
  if (chunks.length !== shape.length || chunks.some((extent) => !Number.isInteger(extent) || extent < 1))
    throw new ArrayError('SHAPE', `chunks of shape ${shapeText(chunks)} do not fit shape ${shapeText(shape)}`)
  const zarrita = await loadZarrita()
  const place = placeOf(where)
  const array = await understood(place, () =>
    zarrita.create(storeOf(where), {
      shape: [...shape],
      chunkShape: [...chunks],
      dtype: dtype.name,
      fillValue: dtype === bool ? false : 0,
      ...(dimensionNames === undefined ? {} : { dimensionNames: dimensionNames.map(String) }),
    }),
  )
  return new ZarrArray(zarrita, array, place)
}

/** A Zarr array, which may be larger than memory. */
export class ZarrArray {
  readonly dtype: DType
  readonly shape: readonly number[]
  /** The shape of a chunk. */
  readonly chunks: readonly number[]
  readonly #zarrita: Zarrita
  readonly #array: ZarritaArray
  readonly #where: string

  /** @internal */
  constructor(zarrita: Zarrita, array: ZarritaArray, where: string) {
    const dtype = DTYPES[array.dtype as DTypeName]
    if (dtype === undefined)
      throw new ArrayError('TYPE', `${where} holds elements of type ${array.dtype}, which arrays do not have`)
    if (!array.shape.every((extent) => Number.isSafeInteger(extent) && extent >= 0))
      throw new ArrayError(
        'SHAPE',
        `${where} says that its shape is ${shapeText(array.shape)}, which no array can have`,
      )
    this.dtype = dtype
    this.shape = array.shape
    this.chunks = array.chunks
    this.#zarrita = zarrita
    this.#array = array
    this.#where = where
  }

  /** From where to before where a region is along each axis. @throws ArrayError INDEX */
  boundsOf(region: ZarrRegion): (readonly [number, number])[] {
    if (!Array.isArray(region) || region.length > this.shape.length)
      throw mustBe('options.region', 'a list of [start, stop], one for each axis', region)
    const bounds = this.shape.map((extent, axis) => region[axis] ?? ([0, extent] as const))
    this.#check(bounds)
    return bounds
  }

  /** The elements of a region; without one, all. */
  async read(region: ZarrRegion = []): Promise<Block> {
    const bounds = this.boundsOf(region)
    const shape = bounds.map(([start, stop]) => stop - start)
    if (sizeOf(shape) === 0) return newBlock(this.dtype, shape)
    const found = await understood(this.#where, () => this.#zarrita.get(this.#array, this.#selection(bounds)))
    if (typeof found === 'object') return this.#blockOf(found)
    const block = newBlock(this.dtype, [])
    writeElement(block.data, 0, found)
    return block
  }

  /** Writes a block whose first element is at `start`. */
  async write(start: readonly number[], block: Block): Promise<void> {
    if (block.dtype !== this.dtype)
      throw new ArrayError(
        'TYPE',
        `cannot write ${block.dtype} into ${this.#where}, which holds ${this.dtype}; use astype()`,
      )
    if (start.length !== this.shape.length || block.shape.length !== this.shape.length)
      throw new ArrayError(
        'SHAPE',
        `could not write a block of shape ${shapeText(block.shape)} at ${shapeText(start)} into shape ${shapeText(this.shape)}`,
      )
    const bounds = start.map((first, axis) => [first, first + block.shape[axis]!] as const)
    this.#check(bounds)
    if (sizeOf(block.shape) === 0) return
    const elements = elementsOf(block)
    // A store is code of others, and may transfer what it is given.
    keepResultMemory(elements)
    const data =
      this.dtype === bool
        ? new this.#zarrita.BoolArray(elements.buffer, elements.byteOffset, elements.length)
        : elements
    const { shape } = block
    const value = shape.length === 0 ? elementAt(block, block.offset) : { data, shape, stride: rowMajor(shape) }
    await understood(this.#where, () => this.#zarrita.set(this.#array, this.#selection(bounds), value))
  }

  #selection(bounds: readonly (readonly [number, number])[]): unknown[] | null {
    return bounds.length === 0 ? null : bounds.map(([start, stop]) => this.#zarrita.slice(start, stop))
  }

  #check(bounds: readonly (readonly [number, number])[]): void {
    for (const [axis, bound] of bounds.entries()) {
      const [start, stop]: readonly number[] = Array.isArray(bound) ? bound : []
      const isInside =
        Number.isInteger(start) &&
        Number.isInteger(stop) &&
        start! >= 0 &&
        start! <= stop! &&
        stop! <= this.shape[axis]!
      if (!isInside)
        throw new ArrayError(
          'INDEX',
          `${String(start)} to ${String(stop)} is out of bounds for axis ${axis} with size ${this.shape[axis]} of ${this.#where}`,
        )
    }
  }

  #blockOf({ data, shape, stride }: Chunk): Block {
    const elements = this.dtype === bool ? Uint8Array.from(data as Iterable<boolean>, Number) : (data as Elements)
    return { dtype: this.dtype, shape, strides: stride, offset: 0, data: elements }
  }
}

/** What the package or the store throws is about this array, or about the disk. @throws ArrayError */
async function understood<T>(where: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (cause) {
    if (cause instanceof AetherError) throw cause
    const kind = (cause as NodeJS.ErrnoException).syscall === undefined ? 'VALUE' : 'FILE'
    const { message } = cause as Error
    throw new ArrayError(kind, `${where} cannot be used as a Zarr array: ${message}`, { cause })
  }
}

/** A folder in which each key is a file. */
class FolderStore implements ZarrStore {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async get(key: `/${string}`): Promise<Uint8Array | undefined> {
    return readFile(this.#pathOf(key)).catch(undefinedIfMissing)
  }

  async set(key: `/${string}`, value: Uint8Array): Promise<void> {
    const path = this.#pathOf(key)
    await mkdir(dirname(path), { recursive: true })
    // Ranks that have the same elements write the same chunk, after they have read it if they cover only a part of it.
    // A file that was opened for writing is empty for a while.
    const scratch = `${path}.${randomUUID()}.part`
    try {
      await writeFile(scratch, value)
      await rename(scratch, path)
    } catch (error) {
      await rm(scratch, { force: true }).catch(() => {})
      throw error
    }
  }

  /** Of a shard, one chunk is read. */
  async getRange(
    key: `/${string}`,
    range: { readonly offset: number; readonly length: number } | { readonly suffixLength: number },
  ): Promise<Uint8Array | undefined> {
    const handle = await open(this.#pathOf(key)).catch(undefinedIfMissing)
    if (handle === undefined) return undefined
    try {
      const { size } = await handle.stat()
      const offset = 'offset' in range ? range.offset : Math.max(0, size - range.suffixLength)
      // The index of a damaged shard may say anything.
      const length = Math.max(0, Math.min('length' in range ? range.length : range.suffixLength, size - offset))
      const bytes = new Uint8Array(length)
      const { bytesRead } = await handle.read(bytes, 0, length, offset)
      return bytes.subarray(0, bytesRead)
    } finally {
      await handle.close()
    }
  }

  /** The metadata say what stands between the numbers of a chunk. */
  #pathOf(key: string): string {
    if (!key.split('/').includes('..')) return join(this.#folder, key)
    throw new ArrayError('VALUE', `${this.#folder} has a chunk ${key}, which would lie outside of it`)
  }
}

function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
}

function storeOf(where: string | ZarrStore): ZarrStore {
  return typeof where === 'string' ? new FolderStore(where) : where
}

function placeOf(where: string | ZarrStore): string {
  return typeof where === 'string' ? where : 'the Zarr array'
}

/** In a variable, so that neither compiling nor bundling needs the package, which is optional. */
const PACKAGE = 'zarrita'

async function loadZarrita(): Promise<Zarrita> {
  try {
    return (await import(PACKAGE)) as Zarrita
  } catch (cause) {
    throw new ArrayError('VALUE', 'Zarr needs the package zarrita: run `npm install zarrita`', { cause })
  }
}
