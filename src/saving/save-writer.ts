import { BlockKind, blockHead, checksum, type EndBlock, preamble, type RegionBlock, type StartBlock } from './format.ts'
import type { NewFile } from './new-file.ts'

/** Records that are put into one block. */
const BLOCK_BYTES = 2 ** 16

/** Writes a save, block by block. */
export class SaveWriter {
  readonly #file: NewFile
  #blocks = 0
  #records: Uint8Array[] = []
  #recordBytes = 0

  constructor(file: NewFile) {
    this.#file = file
  }

  async start(block: StartBlock): Promise<void> {
    await this.#file.write(preamble())
    await this.#json(BlockKind.Start, block)
  }

  async region(block: RegionBlock): Promise<void> {
    await this.#json(BlockKind.Region, block)
  }

  /** Bytes of the region begun last, which the caller does not change any more. */
  async bytes(offsetBytes: number, bytes: Uint8Array): Promise<void> {
    const offset = Buffer.alloc(8)
    offset.writeDoubleLE(offsetBytes)
    await this.#block(BlockKind.Bytes, offset, bytes)
  }

  async structures(block: RegionBlock): Promise<void> {
    await this.#json(BlockKind.Structures, block)
  }

  async structure(block: {
    readonly name: string
    readonly kind: string
    readonly parameters: readonly number[]
  }): Promise<void> {
    await this.#json(BlockKind.Structure, block)
  }

  /** A record of the structure begun last. Undefined if there is nothing to wait for. */
  record(record: Uint8Array): Promise<void> | undefined {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(record.length)
    this.#records.push(length, record)
    this.#recordBytes += 4 + record.length
    return this.#recordBytes >= BLOCK_BYTES ? this.#flush() : undefined
  }

  async end(block: EndBlock): Promise<void> {
    await this.#json(BlockKind.End, block)
  }

  async #flush(): Promise<void> {
    const records = this.#records
    this.#records = []
    this.#recordBytes = 0
    if (records.length > 0) await this.#block(BlockKind.Records, ...records)
  }

  async #json(kind: number, value: object): Promise<void> {
    await this.#flush()
    await this.#block(kind, Buffer.from(JSON.stringify(value)))
  }

  async #block(kind: number, ...payload: readonly Uint8Array[]): Promise<void> {
    const lengthBytes = payload.reduce((sum, part) => sum + part.length, 0)
    await this.#file.write(blockHead(kind, this.#blocks, lengthBytes), ...payload, checksum(payload))
    this.#blocks += 1
  }
}
