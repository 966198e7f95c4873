import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { type Block, newBlock } from '../blocks/block.ts'
import { elementsOf } from '../blocks/copying.ts'
import { ArrayError, shapeText } from '../errors.ts'
import type { DType, Elements } from '../types/dtype.ts'
import {
  formatNpyHeader,
  NPY_PREFIX_BYTES,
  type NpyHeader,
  npyDataBytes,
  npyDataStart,
  npyStrides,
  parseNpyHeader,
  swapNumbers,
} from './npy-header.ts'

/** Bytes moved at a time, between which progress is told. Each element is at a multiple of its size. */
const STEP_BYTES = 16 * 2 ** 20

/** A block as the bytes of a .npy file. */
export function encodeNpy(block: Block): Uint8Array {
  const header = formatNpyHeader(block.dtype, block.shape)
  const elements = bytesOf(elementsOf(block))
  const bytes = new Uint8Array(header.length + elements.length)
  bytes.set(header)
  bytes.set(elements, header.length)
  return bytes
}

/** The block in the bytes of a .npy file: a copy. `file` names them in errors. */
export function decodeNpy(bytes: Uint8Array, file = 'the data'): Block {
  const header = parseNpyHeader(bytes, file)
  const wanted = npyDataBytes(header)
  if (bytes.length - header.dataStart < wanted) throw tooShort(file, header, bytes.length - header.dataStart)
  const block = blockOf(header)
  bytesOf(block.data).set(bytes.subarray(header.dataStart, header.dataStart + wanted))
  if (header.bigEndian) swapNumbers(bytesOf(block.data), header.dtype)
  return block
}

/** Opens a file of which parts are read. */
export async function openNpy(path: string): Promise<NpyFile> {
  const handle = await open(path, 'r')
  try {
    const prefix = await readAt(handle, 0, NPY_PREFIX_BYTES)
    const header = parseNpyHeader(await readAt(handle, 0, npyDataStart(prefix, path)), path)
    const { size } = await handle.stat()
    if (size - header.dataStart < npyDataBytes(header)) throw tooShort(path, header, size - header.dataStart)
    return new NpyFile(path, handle, header)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Opens a file of this type and shape for writing, and makes it if it is not there. Every rank of a group may do so, in
 * any order, and write its part. In a new file, what no one writes is 0.
 */
export async function createNpy(path: string, dtype: DType, shape: readonly number[]): Promise<NpyFile> {
  const bytes = formatNpyHeader(dtype, shape)
  const header = parseNpyHeader(bytes, path)
  const handle = await open(path, constants.O_RDWR | constants.O_CREAT)
  try {
    await handle.truncate(header.dataStart + npyDataBytes(header))
    await handle.write(bytes, 0, bytes.length, 0)
    return new NpyFile(path, handle, header)
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** An open .npy file, which may be larger than memory: parts of it are read and written. */
export class NpyFile implements AsyncDisposable {
  readonly path: string
  readonly #handle: FileHandle
  readonly #header: NpyHeader

  /** @internal */
  constructor(path: string, handle: FileHandle, header: NpyHeader) {
    this.path = path
    this.#handle = handle
    this.#header = header
  }

  get dtype(): DType {
    return this.#header.dtype
  }

  get shape(): readonly number[] {
    return this.#header.shape
  }

  /** Does the first axis lie next to each other, and not the last? */
  get isColumnMajor(): boolean {
    return this.#header.columnMajor
  }

  /** Reads elements that lie one after another, from number `start` of the file on, until `target` is full. */
  async readAt(start: number, target: Elements, onStep?: (bytes: number) => void): Promise<void> {
    await eachStep(bytesOf(target), async (step, from) => {
      await readInto(this.#handle, this.#positionOf(start) + from, step, this.path)
      if (this.#header.bigEndian) swapNumbers(step, this.dtype)
      onStep?.(step.length)
    })
  }

  /** Writes elements one after another, from number `start` of the file on. */
  async writeAt(start: number, source: Elements, onStep?: (bytes: number) => void): Promise<void> {
    await eachStep(bytesOf(source), async (step, from) => {
      await writeFrom(this.#handle, this.#positionOf(start) + from, step)
      onStep?.(step.length)
    })
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #positionOf(start: number): number {
    return this.#header.dataStart + start * this.dtype.bytes
  }
}

/** A new block whose elements lie as in the file. */
function blockOf(header: NpyHeader): Block {
  return { ...newBlock(header.dtype, header.shape), strides: npyStrides(header) }
}

function bytesOf(elements: Elements): Uint8Array {
  return new Uint8Array(elements.buffer, elements.byteOffset, elements.byteLength)
}

async function eachStep(bytes: Uint8Array, move: (step: Uint8Array, from: number) => Promise<void>): Promise<void> {
  for (let from = 0; from < bytes.length; from += STEP_BYTES) await move(bytes.subarray(from, from + STEP_BYTES), from)
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  const { bytesRead } = await handle.read(bytes, 0, length, position)
  return bytes.subarray(0, bytesRead)
}

async function readInto(handle: FileHandle, position: number, bytes: Uint8Array, path: string): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, position + done)
    if (bytesRead === 0) throw new ArrayError('VALUE', `${path} was cut while it was read`)
    done += bytesRead
  }
}

async function writeFrom(handle: FileHandle, position: number, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten
}

function tooShort(file: string, header: NpyHeader, bytes: number): ArrayError {
  const wanted = npyDataBytes(header)
  return new ArrayError(
    'VALUE',
    `${file} has ${Math.max(0, bytes)} bytes of elements; shape ${shapeText(header.shape)} of ${header.dtype} takes ${wanted}`,
  )
}
